"""The product by every way to one and the same process: attached, through gdbserver, and its core. All give the same answers."""

import json
import signal

import pytest

pytest_plugins = "front_gdb"

COMMANDS = ("py-async-bt --all", "py-awaited-by", "py-async-tasks --all")


@pytest.fixture(scope="module")
def product(front_folder):
    front_folder.copy_product("product-ways")
    return "product-ways"


def comparable(text):
    """
    The document without what the way itself adds: the numbers, order and names that GDB or gdbserver gives to threads, and the core
    with its signal.
    """
    document = json.loads(text)
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
