"""GDB's threads are mapped to Python's by $fs_base: in several threads, across a PID namespace, in a core of gcore."""

import json

import compare
import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)


# The document, then what `py-async-bt` answers when each of the four threads is selected. What GDB has to say of threads
# without registers (see below) it says at `info threads`.
COMMANDS = [
    "info threads",
    "py-async-bt --all --json",
    *(command for number in range(1, 5) for command in (f"thread {number}", "py-async-bt")),
]


def expect(oracle, answers, lwps=None):
    """What COMMANDS answer: the task that runs in the selected thread, and no other; where none runs, all tasks, and the reason."""
    document = answers[1].json()
    found = compare.differences(oracle, document, lwps)
    assert not found, "\n".join([*found, str(answers[1])])
    assert sorted(thread["num"] for thread in document["threads"]) == [1, 2, 3, 4]
    running = 0
    for thread in document["threads"]:
        answer = answers[2 * thread["num"] + 1]
        if thread["task"]:
            running += 1
            assert answer.text.startswith("The task that runs in the selected thread; 3 more tasks: py-async-bt --all\n"), answer
            assert [compare.address_of(block) for block in compare.parse_trees(answer.text)] == [thread["task"]], answer
        else:
            first = "All tasks, those first that run in other threads: none runs in the selected one\n"
            assert answer.text.startswith(first), answer
    assert running == 1


def test_selected_thread_of_a_core(gdb, build):
    made = harness.make_core(build, "threads")
    expect(made.oracle, harness.ask(gdb, f"/usr/bin/{build}", f"core {harness.seen_by(gdb, made.core)}", *COMMANDS))


def only_child(popen):
    (child,) = harness.pathlib.Path(f"/proc/{popen.pid}/task/{popen.pid}/children").read_text().split()
    return int(child)


def outer_ids(pid):
    """{thread id in the process's own namespace: outside}"""
    ids = {}
    for status in harness.pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("NSpid:")]
        ids[int(line.split()[-1])] = int(line.split()[1])
    return ids


def test_process_in_a_pid_namespace(gdb, build, scratch):
    """
    Seen from outside, the kernel's thread ids are not those that Python knows. Live, and in a core that gcore makes.

    In that core libthread_db adds threads under the ids from inside, without registers: they are nobody's. It is the newer GDB
    that makes it: version 13 leaves out stacks that have a guard page inside their mapping, as new C libraries make them.
    """
    harness.prepare()
    core = scratch / "core"
    # The scenario is PID 1 in there, and ends with unshare.
    command = ["unshare", "--pid", "--fork", "--kill-child", *harness.scenario_command(build, "threads", "live", scratch)]
    with harness.running(command, scratch, pid_of=only_child) as process:
        lwps = outer_ids(process.pid)
        oracle = json.loads((scratch / "oracle.json").read_text())
        assert oracle["pid"] == 1 and lwps[1] == process.pid
        live = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", *COMMANDS)
        gcore = f"gcore {harness.inside(core)}"
        (made,) = harness.ask("root-gdb", f"/usr/bin/{build}", f"attach {process.pid}", gcore)
    assert made.error is None, made
    expect(oracle, live, lwps)
    expect(oracle, harness.ask(gdb, f"/usr/bin/{build}", f"core {harness.seen_by(gdb, core)}", *COMMANDS), lwps)


def test_fork_child(gdb, build):
    """The child's only thread is the one that forked, with a native id of its own. No loop runs in it."""
    made = harness.make_core(build, "fork_child")
    (answer,) = harness.ask(gdb, f"/usr/bin/{build}", f"core {harness.seen_by(gdb, made.core)}", "py-async-bt --json")
    (thread,) = answer.json()["threads"]
    assert thread["num"] == 1 and thread["lwp"] == thread["native_id"] == made.oracle["pid"], answer
    assert thread["loop"] is None and thread["task"] is None, answer
