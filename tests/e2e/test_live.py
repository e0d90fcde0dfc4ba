"""
Processes: what is read in one that runs is what its oracle says, and it goes on unharmed.

One GDB a build reads every scenario, the other some. (--long: both read all.)
"""

import re
import subprocess

import compare
import harness
import pytest

OTHER_PAIRS = [(gdb, build) for build in harness.BUILDS for gdb in harness.GDBS if (gdb, build) not in harness.PAIRS]
SMOKE = ("gather", "threads", "eager", "awaitables")


def cases():
    for pair in harness.PAIRS:
        yield from (pytest.param(*pair, name) for name in harness.SCENARIOS if name not in harness.BIG)
    for pair in OTHER_PAIRS:
        yield from (pytest.param(*pair, name, marks=() if name in SMOKE else pytest.mark.long) for name in harness.SCENARIOS)
    yield from (pytest.param(*pair, name, marks=pytest.mark.long) for pair in harness.PAIRS for name in sorted(harness.BIG))


@pytest.mark.parametrize("gdb, build, scenario", cases())
def test_process_is_what_its_oracle_says(reading):
    """The process also ends as its scenario does, with status 0, after GDB has let it go: harness.running() sees to that."""
    document = reading.json("bt.json")
    found = compare.differences(reading.oracle, document)
    assert not found, "\n".join([*found[:20], f"… {len(found)} differences", reading.repeat("bt.json")])
    assert document["complete"] == (reading.folder.name not in harness.DAMAGED), reading.repeat("bt.json")
    assert document["process"]["core"] is None, reading.repeat("bt.json")
    assert "live process" in reading.text("info.txt"), reading.repeat("info.txt")
    if "compat.txt" in harness.commands_of(reading.folder.name):
        blocks = {compare.address_of(block): block for block in compare.parse_call_graph(reading.text("compat.txt"))}
        for task in reading.oracle["tasks"]:
            if "text" in task:
                (right,) = compare.parse_call_graph(compare.expected_call_graph(reading.oracle, task["text"]))
                assert blocks.get(task["id"]) == right, reading.repeat("compat.txt")


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_through_gdbserver(gdb, build, scratch):
    """The server runs beside the process, GDB reads memory and registers through it alone."""
    harness.prepare()
    with harness.running(harness.scenario_command(build, "threads", "live", scratch), scratch) as process:
        target = f"target remote | gdbserver --once --attach - {process.pid}"
        backtrace, info = harness.ask(gdb, f"/usr/bin/{build}", target, "py-async-bt --all --json", "py-async-info")
    found = compare.differences(harness.Scenario(scratch, [], "").oracle, backtrace.json(), own_clock=False)
    assert not found, "\n".join([*found[:20], str(backtrace)])
    assert "live process" in info.text, info


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_process_works_on_after_it_was_read(gdb, build):
    """It is read in the middle of its work, twice, by every command; then it finishes, and its sum is right."""
    command = harness.in_root("env", "-i", f"/usr/bin/{build}", f"{harness.inside(harness.PLACE)}/targets/worker.py")
    harness.prepare()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        commands = [command.replace(" --output FILE", "") for command in harness.COMMANDS.values()]
        for turn in range(2):
            answers = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", *commands)
            for answer in answers:
                assert answer.error is None and answer.text, answer
            assert len(answers[0].json()["tasks"]) == 101, answers[0]
            print(turn, file=process.stdin, flush=True)
            assert process.stdout.readline() == f"{turn} 4950\n"
        process.stdin.close()
        assert process.stdout.read() == "done\n"
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_memory_is_the_same_by_the_kernel_and_through_gdb(gdb, build, scratch):
    harness.prepare()
    commands = ("py-async-bt --all --locals --no-map", "py-async-info --no-map", "py-async-bt --all --locals", "py-async-info")
    with harness.running(harness.scenario_command(build, "threads", "live", scratch), scratch) as process:
        slow, through_gdb, fast, by_kernel = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", *commands)
    seconds = re.compile(r"\b(in|due) -?[\d,.]+ s\b")  # time passes between the two
    assert seconds.sub(r"\1 … s", fast.text) == seconds.sub(r"\1 … s", slow.text) != "", slow
    assert "Memory: all through the debugger" in through_gdb.text, through_gdb
    assert f"Memory: of process {process.pid} itself" in by_kernel.text, by_kernel
