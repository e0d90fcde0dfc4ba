"""Who holds what a task waits for, as the scenario made it."""

import re

import compare
import harness
import pytest

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


def holders_of(waits_on):
    """What is said of holders, without what the scenario does not state."""
    keys = ("held", "holders_total", "holders")
    stated = {key: waits_on[key] for key in keys}
    stated["holders"] = [{key: holder[key] for key in ("id", "function", "how")} for holder in waits_on["holders"]]
    return stated


def check(answer, oracle, count):
    ours = compare.by_id(answer.json()["tasks"])
    found = []
    stated = [task for task in oracle["tasks"] if "holders" in task]
    for task in stated:
        waits_on = ours[task["id"]]["waits_on"]
        mine = holders_of(waits_on) if "held" in waits_on else waits_on
        if "kind" in task["holders"]:
            mine["kind"] = waits_on["kind"]
        theirs = task["holders"]
        for each in mine, theirs:
            each["holders"].sort(key=lambda holder: holder["id"])
        found += compare.unequal(task["name"], mine, theirs)
    assert not found, "\n".join([*found, answer.repeat])
    assert len(stated) == count


@over_matrix
def test_who_holds_it(gdb, build):
    made = harness.make_core(build, "holders")
    (answer,) = harness.ask_core(gdb, build, "holders", "py-async-bt --all --json")
    check(answer, made.oracle, 24)


@over_matrix
def test_anyio_names_its_holders(gdb, build):
    made = harness.make_core(build, "holder_anyio")
    (answer,) = harness.ask_core(gdb, build, "holder_anyio", "py-async-bt --all --json")
    check(answer, made.oracle, 5)


def check_threads(answer, oracle):
    threads = {thread["native_id"]: thread for thread in answer.json()["threads"]}
    number = {thread["num"]: native_id for native_id, thread in threads.items()}
    found = []
    for name, stated in oracle["notes"]["threads"].items():
        waits_on = threads[stated.pop("native_id")]["waits_on"]
        mine = waits_on and {
            "kind": waits_on["kind"],
            "object": waits_on["object"],
            **holders_of(waits_on),
            "holder_threads": [number[holder["thread"]] if holder["id"] is None else None for holder in waits_on["holders"]],
        }
        stated["holder_threads"] = [
            native_id if holder["id"] is None else None for holder, native_id in zip(stated["holders"], stated["holder_threads"])
        ]
        found += compare.unequal(name, mine, stated)
    waits = [thread["native_id"] for thread in threads.values() if thread["waits_on"] and thread["waits_on"]["kind"] == "lock"]
    found += [] if len(waits) == 17 else [f"{len(waits)} threads wait for a lock"]
    assert not found, "\n".join([*found, answer.repeat])


@over_matrix
def test_threads_that_wait_for_locks(gdb, build):
    made = harness.make_core(build, "holder_threads")
    (answer,) = harness.ask_core(gdb, build, "holder_threads", "py-async-bt --all --json")
    check_threads(answer, made.oracle)


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_live_threads_that_wait_for_locks(gdb, build, scratch):
    harness.prepare()
    with harness.running(harness.scenario_command(build, "holder_threads", "live", scratch), scratch) as process:
        (answer,) = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", "py-async-bt --all --json")
    check_threads(answer, harness.Scenario(scratch, [], "").oracle)


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_text_names_holders(gdb, build):
    """Of equal tasks the first one's; of a running task the lock that its thread is blocked in."""
    harness.make_core(build, "holders")
    (answer,) = harness.ask_core(gdb, build, "holders", "py-async-bt --all --no-group")
    lines = [line.partition("waits on ")[2] for line in answer.text.splitlines() if "waits on" in line]
    said = [re.sub(r":\d+", ":N", line.partition(", ")[2]) for line in lines]
    for line in (
        "2 waiters, held by body at holders.py:N (in its async with)",
        "1 waiter, held by stack at holders.py:N (in its ExitStack)",
        "1 waiter, held by semaphore-0 at holders.py:N (in its async with), semaphore-1 at holders.py:N (in its async with)",
        "1 waiter, holder: none on any stack",
        "1 waiter",
    ):
        assert line in said, f"{line}\n{answer}"
    harness.make_core(build, "holder_threads")
    (answer,) = harness.ask_core(gdb, build, "holder_threads", "py-async-bt --all")
    line = r"  : waits on _thread\.lock 0x\w+, held by suspended at holder_threads.py:\d+ \(in its with\)\n"
    assert re.search(line, answer.text), answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_threads_without_tasks_say_who_holds_it(gdb, build):
    harness.make_core(build, "holder_no_task")
    (answer,) = harness.ask_core(gdb, build, "holder_no_task", "py-async-bt")
    line = r"_thread\.lock 0x\w+, held by .*thread \d+.* at holder_no_task.py:\d+ \(in its with\)\n"
    assert len(re.findall(line, answer.text)) == 2, answer
