"""--native of processes that did not crash in native code: of every thread and task the Python frames that are known."""

import functools

import compare
import harness
import pytest

SCENARIOS = (
    "callback", "coroutine_objects", "cython_coroutines", "deep_stack", "eager", "pure_python_running", "recursion",
    "subinterpreter", "threads", "two_runtimes", "uvloop_server",
    "greenlets/boundaries", "greenlets/bridge_running", "greenlets/running",
)  # fmt: skip
COMMAND = "py-async-bt --native --thread all --json"
REPORT = "py-async-report --json"  # where there is no asyncio


def scenarios_of(build):
    return [name for name in SCENARIOS if build in harness.ONLY.get(name, harness.BUILDS)]


@functools.cache
def answers(gdb, build):
    cores = [harness.make_core(build, name).core for name in scenarios_of(build)]
    targets = [f"core {harness.seen_by(gdb, core)}" for core in cores]
    return dict(zip(scenarios_of(build), harness.ask_all(gdb, f"/usr/bin/{build}", targets, [COMMAND, REPORT])))


def differences(document):
    """What contradicts the same document's threads and tasks, which other tests compare with what the process says."""
    found = [] if document["native"] else ["there is no native stack"]
    stacks = {stack["thread"]: stack for stack in document["native"]}
    tasks = compare.by_id(document["tasks"])
    for number in {thread["num"] for thread in document["threads"]} & stacks.keys():
        native = stacks[number]
        wanted = [
            frame
            for thread in document["threads"]
            if thread["num"] == number
            for frame in document["stacks"][thread["stack"]]
        ]
        python = [{key: frame[key] for key in wanted[0]} for frame in native["frames"] if frame["kind"] != "native"]
        if not native["matched"]:
            found.append(f"thread {number}: {native['why']}")
        elif sorted(map(str, python)) != sorted(map(str, wanted)):
            found.append(f"thread {number}: {python}\n    not {wanted}")
        if any("_PyEval_EvalFrameDefault" in (frame["function"] or "") for frame in native["frames"]):
            found.append(f"thread {number}: a loop of the interpreter is shown")
        for entry in native["tasks"]:
            part = native["frames"][entry["first"] : entry["end"]]
            frames = [frame["function"] for frame in part if frame["kind"] != "native"]
            if entry["id"] in tasks:
                stack = [frame["function"] for frame in document["stacks"][tasks[entry["id"]]["stack"]]]
                found += compare.unequal(f"task {entry['id']}: frames", frames, stack[: len(frames)])
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_python_frames_are_those_of_the_thread(gdb, build, scenario):
    if scenario not in scenarios_of(build):
        return
    answer = answers(gdb, build)[scenario][scenario in ("greenlets/boundaries", "greenlets/running")]
    found = differences(answer.json())
    assert not found, "\n".join([*found, str(answer.repeat)])


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_live(gdb, build, scratch):
    """A process that waits in os.read(), called in a callback of its loop."""
    command = harness.scenario_command(build, "callback", "live", scratch)
    with harness.running(command, scratch) as process:
        # The test's GDB and process are in one root, but not in one mount namespace: GDB would take this machine's libraries.
        sysroot = "set sysroot /" if gdb == "root-gdb" else f"set sysroot {harness.ROOT}"
        commands = ("py-async-bt --native", COMMAND, REPORT)
        text, document, report = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", *commands, before=[sysroot])
    assert not differences(document.json()), document
    (stack,) = document.json()["native"]
    functions = [frame["function"] for frame in stack["frames"]]
    assert functions.index("stop") < functions.index("Handle._run"), document
    assert report.json()["report"]["files"]["not_as_mapped"] == [] and report.json()["report"]["core"] is None, report
    assert "* Thread 1" in text.text and "oracle.py', line " in text.text, text
