"""The front with the real library: by every way to a process the same answers; completion; one line for whatever is typed."""

import json
import signal

import pytest

pytest_plugins = "front_gdb"

COMMANDS = ("py-async-bt --all", "py-awaited-by", "py-async-tasks --all")


@pytest.fixture(scope="session")
def product(front_folder):
    front_folder.copy_product("real")
    return "real"


def comparable(text):
    """
    The document without what the way itself adds: the numbers, order and names that GDB or gdbserver gives to threads, the core
    with its signal, and the time that has passed.
    """
    document = json.loads(text)
    for loop in document["loops"]:
        loop.update(next_timer=None)
    for task in document["tasks"]:
        if task["waits_on"]:
            task["waits_on"].pop("due", None)
    document["process"].update(core=None, signal=None)
    kernel_id = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    for thread in document["threads"]:
        thread.update(num=thread["native_id"], name=None)
    for entry in document["tasks"] + document["loops"]:
        entry["thread"] = kernel_id[entry["thread"]]
    document["threads"].sort(key=lambda thread: thread["num"])
    return document


@pytest.fixture
def answers(gdb, product, front_folder):
    """The documents that our commands give once GDB has run the lines @p connect; then those of @p leave."""

    def ask(connect, leave):
        files = [front_folder.host / f"answer-{number}.json" for number in range(len(COMMANDS))]
        ours = [f"{command} --json --output {gdb.path(file.name)}" for command, file in zip(COMMANDS, files)]
        outputs = gdb.run([*connect, *ours, *leave], gdb.root_path("/usr/bin/python3.15"), *gdb.source(product))
        assert outputs[len(connect) : len(connect) + len(ours)] == [""] * len(ours)
        return [comparable(file.read_text()) for file in files]

    return ask


def test_same_answers(gdb, answers, running, program, front_folder):
    folder = front_folder.host / "ways"
    folder.mkdir(exist_ok=True)
    script = f"cd {front_folder.inside}/ways; ulimit -c unlimited; exec env -i python3.15 {program}"
    with running("sh", "-c", script) as process:
        attached = answers([f"attach {process.pid}"], ["detach"])
        remote = answers([f"target remote | gdbserver --once --attach - {process.pid}"], ["detach"])
        server = "target extended-remote | gdbserver --multi --once -"
        extended = answers([server, f"attach {process.pid}"], ["detach", "disconnect"])
        process.send_signal(signal.SIGABRT)
        process.wait(20)
    (core,) = folder.glob("core*")
    of_core = answers([f"core {gdb.path('ways', core.name)}"], [])
    core.unlink()
    for document in attached:
        assert document["complete"] and [task["name"] for task in document["tasks"]] == ["Task-1"]
        assert len(document["threads"]) == 3 and document["loops"][0]["thread"] == document["process"]["pid"]
    assert remote == attached
    assert extended == attached
    assert of_core == attached


def test_task_names_are_completed(gdb, product, core):
    lines = ["complete py-async-bt T", "complete py-async-bt Task-", "complete py-awaited-by --json nobody", "py-async-bt nobody"]
    *completed, error = gdb.run(lines, *gdb.on_bare_core(core), *gdb.source(product))
    assert completed == ["py-async-bt Task-1\n"] * 2 + [""]
    assert "nobody" in error and len(error.splitlines()) == 1


ANY_WORDS = """
import random
random.seed(15)
commands = ["py-async-bt", "py-awaited-by", "py-async-tasks", "py-async-info"]
words = '''--all --thread --state --in --group --no-group --limit --frames --depth --source --no-head --compat --json --show-secrets
    --exhaustive --no-map --memory-stats --help -h -- - --x --limit=3 --state=any --in=main --thread=2 --output=/dev/null 1 0 -1 all
    any waiting Task-1 Task-* Task-[12] [ * ** 0x 0x0 0x1 0xffffffffffffffff 0xfffffffffffffffff
    $rsp $sp+8 *$sp &main ( () (char*)0 ' "
    \\\\ 'a_b' $_siginfo $_exitcode &_PyRuntime é %s%n { main @ ! | & *& $ $x=1 $nothing *$pc'''.split()
for _ in range(600):
    line = " ".join([random.choice(commands), *random.choices(words, k=random.randrange(6))])
    try:
        gdb.execute(line, to_string=True)
    except gdb.error as error:
        if not str(error) or "\\n" in str(error) or "internal error" in str(error):
            print(f"{line}: {error}")
print("done")
"""


def test_any_words_are_an_answer_or_one_line(gdb, product, core, front_folder):
    (front_folder.host / "any_words.py").write_text(ANY_WORDS)
    done = gdb.batch(*gdb.on_core(core), *gdb.source(product), "-ex", "echo begin\\n", "-x", gdb.path("any_words.py"))
    assert done.stdout.partition("begin\n")[2] == "done\n"
    assert "Python" not in done.stderr, done.stderr
