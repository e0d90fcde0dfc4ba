"""What each task waits for, as the scenario made it."""

import time

import compare
import harness
import pytest

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


@over_matrix
def test_what_tasks_wait_for(gdb, build):
    made = harness.make_core(build, "waits")
    (answer,) = harness.ask_core(gdb, build, "waits", "py-async-bt --all --json")
    ours = compare.by_id(answer.json()["tasks"])
    found = []
    stated = [task for task in made.oracle["tasks"] if "waits_on" in task]
    for task in stated:
        mine, theirs = ours[task["id"]]["waits_on"], task["waits_on"]
        mine = {key: mine[key] for key in mine if key not in ("held", "holders", "holders_total")}  # test_holders.py
        if "when" in theirs:
            due, when = mine.pop("due"), mine.pop("when")
            assert abs(when - theirs.pop("when")) <= 1e-6, answer  # it is shown in microseconds
            (loop,) = made.oracle["loops"]
            assert abs(due - (when - loop["last_look"])) <= 2e-6, answer
        found += compare.unequal(task["name"], mine, theirs)
    assert not found, "\n".join([*found, answer.repeat])
    kinds = {"ready", "task", "future", "timer", "lock", "event", "condition", "semaphore", "queue", "gather", "wait", "taskgroup"}
    assert {task["waits_on"]["kind"] for task in stated} == kinds


def stated_differences(answer, made):
    """In what the waits that a scenario has stated are not those of a document; threads are stated by their native id."""
    document = answer.json()
    ours = compare.by_id(document["tasks"])
    native_ids = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    for task in made.oracle["tasks"]:
        if "waits_on" in task:
            mine = ours[task["id"]]["waits_on"]
            if mine.get("thread") is not None:
                mine["thread"] = native_ids[mine["thread"]]
            yield from compare.unequal(task["name"], mine, task["waits_on"])


@over_matrix
def test_files_processes_and_executors(gdb, build):
    made = harness.make_core(build, "waits_io")
    (answer,) = harness.ask_core(gdb, build, "waits_io", "py-async-bt --all --json")
    found = list(stated_differences(answer, made))
    assert not found, "\n".join([*found, answer.repeat])
    kinds = {"socket", "pipe", "process", "executor", "future"}
    assert {task["waits_on"]["kind"] for task in made.oracle["tasks"] if "waits_on" in task} == kinds


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_text_says_what_they_wait_for(gdb, build):
    made = harness.make_core(build, "waits")
    (answer,) = harness.ask_core(gdb, build, "waits", "py-async-bt --all")
    object_of = {task["name"]: task["waits_on"]["object"] for task in made.oracle["tasks"] if "waits_on" in task}
    for line in (
        f"wait on Lock {object_of['lock-0']}, 3 waiters, holder: none on any stack",
        f"waits on OwnLock {object_of['own-lock']}, 1 waiter, holder: none on any stack",
        f"waits on Event {object_of['event-0']}, 2 waiters", f"waits on Condition {object_of['condition-0']}, 2 waiters",
        "the first waits on Semaphore " + object_of["semaphore"] + ", 1 waiter, holder: none on any stack",
        f"waits on Queue {object_of['put']}, put, 2 of 2 items, 1 putter", f"waits on Event {object_of['join']}, 1 waiter",
        "waits on gather, 2 of 3 left", "waits on wait, 2 of 2 left", f"waits on TaskGroup {object_of['taskgroup']}, 4 left",
    ):  # fmt: skip
        assert f"  : {line}\n" in answer.text, f"{line}\n{answer}"
    assert answer.text.count("  : waits on Lock") == 1, answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_live_timers_come_nearer(gdb, build, scratch):
    """By the host's clock, not by when the loop looked at it last."""
    harness.prepare()
    with harness.running(harness.scenario_command(build, "waits", "live", scratch), scratch) as process:
        time.sleep(1)
        (answer,) = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", "py-async-bt --all --json")
    oracle = harness.Scenario(scratch, [], "").oracle
    (loop,) = oracle["loops"]
    ours = compare.by_id(answer.json()["tasks"])
    timers = [task for task in oracle["tasks"] if task.get("waits_on", {}).get("kind") == "timer"]
    assert timers, answer
    for task in timers:
        gone = task["waits_on"]["when"] - loop["written"] - ours[task["id"]]["waits_on"]["due"]
        assert 1 <= gone <= 120, f"{gone} seconds\n{answer}"
