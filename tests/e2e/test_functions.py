"""$_py_task(), $_py_task_count(), and the line that GDB prints for a task's structure."""

import re

import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)


def outputs(gdb, build, scenario, *commands, executable=True):
    """What GDB's own commands print about a scenario's core, a list of lines each; what fails is the line of its error."""
    core = harness.seen_by(gdb, harness.make_core(build, scenario).core)
    marked = [word for line in commands for word in (f"python run({line!r})", "echo ---\\n")]
    define = "python import gdb"
    function = (
        "python exec('def run(line):\\n try:\\n  gdb.write(gdb.execute(line, to_string=True))"
        "\\n except gdb.error as error:\\n  gdb.write(str(error) + chr(10))')"
    )
    symbols = [] if executable else ["set debug-file-directory /none"]
    done = harness.run_gdb(
        gdb, f"/usr/bin/{build}" if executable else None, define, function, *symbols, f"core {core}", "echo ===\\n", *marked
    )
    parts = done.stdout.partition("===\n")[2].split("---\n")
    assert len(parts) == len(commands) + 1, done
    return [part.splitlines() for part in parts[:-1]]


def test_a_task_is_a_value(gdb, build):
    oracle = harness.make_core(build, "taskgroup").oracle
    named = {task["name"]: task for task in oracle["tasks"]}
    lines = [f'print/x (long) $_py_task("{name}")' for name in named]
    lines += [f'output $_py_task("{name}")' for name in named]
    as_operand = "py-async-bt '$_py_task(\"Task-1\")'"
    found = outputs(gdb, build, "taskgroup", *lines, as_operand, "py-async-bt Task-1")
    for task, output in zip(named.values(), found):
        assert output[0].split(" = ")[1] == task["id"], output
    for task, output in zip(named.values(), found[len(named) :]):
        assert output == [f"(PyObject *) {task['id']}"], output
    assert found[-2] == found[-1] and len(found[-1]) > 3


def test_names_are_exact_and_of_every_kind(gdb, build):
    """As GDB's strings write them; an ended task has an address too."""
    oracle = harness.make_core(build, "names").oracle
    by_name = {task["name"]: task["id"] for task in oracle["tasks"]}
    names = ("", "naïve café", "it's", "🐍 and 🧵", "-7", "plain")
    found = outputs(gdb, build, "names", *(f'print/x (long) $_py_task("{name}")' for name in names))
    for name, output in zip(names, found):
        assert output[0].split(" = ")[1] == by_name[name], output
    ended = harness.make_core(build, "stale_awaiter").oracle["ended"][0]
    (output,) = outputs(gdb, build, "stale_awaiter", f'print/x (long) $_py_task("{ended["name"]}")')
    assert output[0].split(" = ")[1] == ended["id"], output


def test_counts(gdb, build):
    oracle = harness.make_core(build, "stale_awaiter").oracle
    live = [task for task in oracle["tasks"] if task["state"] == "pending"]
    waiting = [task for task in live if task["activity"] == "waiting"]
    expected = {
        "$_py_task_count()": len(live),
        '$_py_task_count("live")': len(live),
        '$_py_task_count("ended")': len(oracle["ended"]),
        '$_py_task_count("any")': len(live) + len(oracle["ended"]),
        '$_py_task_count("waiting")': len(waiting),
        '$_py_task_count("executing") + 1': 1,
    }
    found = outputs(gdb, build, "stale_awaiter", *(f"output {text}" for text in expected))
    assert found == [[str(count)] for count in expected.values()]


def test_errors_are_one_line(gdb, build):
    expected = {
        'print $_py_task("nobody")': 'no task is called "nobody" among 4; py-async-tasks lists them',
        'print $_py_task("Task-*")': 'no task is called "Task-*" among 4; py-async-tasks lists them',
        "print $_py_task()": "$_py_task takes one argument: the name of a task",
        'print $_py_task("a", "b")': "$_py_task takes one argument: the name of a task",
        "print $_py_task(7)": "$_py_task takes the name of a task, a string",
        "print $_py_task_count(7)": "$_py_task_count takes a state, a string",
        'print $_py_task_count("live", 1)': "$_py_task_count takes at most one argument: a state",
        'print $_py_task_count("asleep")': '--state: no state "asleep"; there are live, ended, any, pending, done, failed, '
        "cancelled, running, executing, ready, created and waiting",
    }
    for output, text in zip(outputs(gdb, build, "taskgroup", *expected), expected.values()):
        assert output == [text]


def test_help(gdb, build):
    lists, task, count = outputs(gdb, build, "gather", "help function", "help function _py_task", "help function _py_task_count")
    assert "function _py_task -- $_py_task - the asyncio task of a name." in lists
    assert "function _py_task_count -- $_py_task_count - the number of asyncio tasks." in lists
    assert "Usage: $_py_task (NAME)" in task and "Usage: $_py_task_count ([STATE])" in count


def test_without_symbols_an_address_is_a_number(gdb, build):
    oracle = harness.make_core(build, "gather").oracle
    ids = {task["name"]: task["id"] for task in oracle["tasks"]}
    (number,) = outputs(gdb, build, "gather", 'output $_py_task("Task-1")', executable=False)
    # The debug interpreters have their symbols in themselves, and GDB 18 finds a core's executable.
    typed = gdb == "root-gdb" and build.endswith("d")
    assert number == [f"(PyObject *) {ids['Task-1']}" if typed else str(int(ids["Task-1"], 16))]


def test_a_structure_is_one_line(gdb, build):
    """A task, a future, pointers to them, fields in C's frames; what is none, and /r, stay as GDB prints them."""
    oracle = harness.make_core(build, "future").oracle
    task = next(task for task in oracle["tasks"] if task["name"] == "Task-1")
    frame = next(frame for frame in task["stack"] if "/asyncio/" not in frame["file"])
    place = f"in {frame['function']} ({frame['file'].rpartition('/')[2]}:{frame['line']})"
    address = task["id"]
    line = f"<Task 'Task-1' {task['state']}, {place}>"
    structure, pointer, raw, nothing, null, future, listed = outputs(
        gdb, build, "future",
        f"output *(TaskObj *) {address}", f"output (TaskObj *) {address}", f"output/r *(TaskObj *) {address}",
        "output/x ((TaskObj *) $sp)", "output (TaskObj *) 0", f"output *(FutureObj *) ((TaskObj *) {address})->task_fut_waiter",
        "info pretty-printer global pyasync",
    )  # fmt: skip
    assert structure == [line]
    assert pointer == [f"{address} {line}"]
    assert raw[0].startswith("{ob_base = "), raw
    assert "<Task" not in nothing[0] and null == ["(TaskObj *) 0x0"]
    assert future == ["<Future pending>"]
    assert [text.strip() for text in listed][-2:] == ["Future", "Task"]


def test_frames_of_c_name_their_task(gdb, build):
    """`bt` shows which task each task_step() runs."""
    oracle = harness.make_core(build, "gather").oracle
    (running,) = [task for task in oracle["tasks"] if task["activity"] == "running"]
    (lines,) = outputs(gdb, build, "gather", "bt")
    steps = [line for line in lines if re.search(r"in task_step.* task=(task@entry=)?0x", line)]
    assert steps and all(f"<Task '{running['name']}' pending, running, in " in line for line in steps), lines


def test_hostile_names_and_secrets_are_shown_as_everywhere(gdb, build):
    for scenario in ("hostile", "secrets"):
        oracle = harness.make_core(build, scenario).oracle
        for output in outputs(gdb, build, scenario, *(f"output *(TaskObj *) {task['id']}" for task in oracle["tasks"])):
            assert len(output) == 1 and output[0].startswith("<Task "), output
            assert output[0].isprintable() and "hunter2secret" not in output[0], output


def test_pythons_own_printers_stay(gdb, build):
    """python-gdb.py prints a PyObject * as before, whichever is loaded first."""
    script = harness.seen_by(gdb, harness.ROOT / f"usr/share/gdb/auto-load/usr/bin/{build}-gdb.py")
    objects = 'output *(TaskObj *) $_py_task("Task-1")'
    loaded, python, ours = outputs(gdb, build, "future", f"source {script}", 'output $_py_task("Task-1")', objects)
    assert loaded == [] and "at remote 0x" in python[0], python
    assert ours[0].startswith("<Task 'Task-1' "), ours
