"""What the user had selected and set in GDB is as it was after any command of ours, however it ended."""

import time

import pytest

pytest_plugins = "front_gdb"

# Commands that ask the front for everything, succeed and fail.
OURS = (
    "py-async-bt --in threads",
    "py-async-bt --in ranges",
    "py-async-bt --in target",
    "py-async-bt --in 'symbol _PyRuntime'",
    "py-async-bt --in 'symbol no_such'",
    "py-async-bt --in 'section .PyRuntime'",
    "py-async-bt --in 'member TaskObj task_coro'",
    "py-async-bt $rsp *nothing*",
    "py-async-bt &no_such",
    "py-async-bt (1",
    "py-async-bt --in fail",
    "py-async-bt --nope",
    "py-async-info --no-map",
    "complete py-async-bt wor",
)

SETTINGS = ("language", "may-call-functions", "print pretty", "print elements", "radix", "height", "scheduler-locking")


def state():
    """Commands that show GDB's state without changing it."""
    return ["thread", "frame", "print $_thread", "print $_inferior", "print $_", *(f"show {name}" for name in SETTINGS)]


@pytest.mark.parametrize("where", ["core", "process"])
def test_selection_and_settings(gdb, core, process, where):
    debug = {"debug_files": True}  # for frames to select
    arguments = gdb.on_core(core, **debug) if where == "core" else gdb.on_process(process.pid, **debug)
    prepare = ["set language ada", "set print pretty on", "set print elements 7", "set $_ = 42", "thread 2", "up", "up"]
    lines = [*prepare, *state(), *OURS, *state()]
    outputs = gdb.run(lines, *arguments, *gdb.source())
    before = outputs[len(prepare) : len(prepare) + len(state())]
    after = outputs[-len(state()) :]
    assert "Current thread is 2" in before[0] and before[1].startswith("#2 ")
    assert "ada" in before[5]
    # print counts its values up: compare what it says, not the number. That it counts by one shows that we print none.
    first = [text.partition(" = ")[2] or text for text in before]
    second = [text.partition(" = ")[2] or text for text in after]
    assert first == second
    numbers = [int(text[1:].split()[0]) for text in before + after if text.startswith("$")]
    assert numbers == list(range(1, 7))


def test_selection_after_ctrl_c_in_a_visit_to_all_threads(gdb, core):
    arguments = ["-ex", "set style enabled off", *gdb.on_bare_core(core), "-ex", "thread 2", "-ex", "up", *gdb.source()]
    visit = "import pyasync_gdb.threads; print('visiting'); [pyasync_gdb.threads.list_threads() for _ in range(10**5)]"
    with gdb.terminal(*arguments) as child:
        for attempt in range(10):
            child.sendline(f"python {visit}")
            child.expect(r"[\r\n]visiting")
            time.sleep(0.05 + attempt * 0.003)
            child.sendintr()
            child.expect_exact("(gdb) ")
            child.sendline("thread")
            child.expect("Current thread is 2 ")
            child.sendline("frame")
            child.expect(r"[\r\n]#1 ")
            child.expect_exact("(gdb) ")


def test_nothing_is_resumed_or_written(gdb, process):
    """The kernel's own count: the process has not run between the commands."""
    stat = f"shell cut -d' ' -f 14,15 /proc/{process.pid}/stat"
    program_counters = "thread apply all -q print $pc"
    lines = [stat, program_counters, *OURS, stat, program_counters]
    outputs = gdb.run(lines, *gdb.on_process(process.pid), *gdb.source())
    assert outputs[0] == outputs[-2]
    counters = [[line.partition(" = ")[2] for line in text.splitlines()] for text in (outputs[1], outputs[-1])]
    assert counters[0] == counters[1] and len(counters[0]) >= 3
