"""Who holds what a task waits for, as the scenario made it."""

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


def check(answer, oracle):
    ours = compare.by_id(answer.json()["tasks"])
    found = []
    stated = [task for task in oracle["tasks"] if "holders" in task]
    for task in stated:
        waits_on = ours[task["id"]]["waits_on"]
        mine = holders_of(waits_on) if "held" in waits_on else waits_on
        found += compare.unequal(task["name"], mine, task["holders"])
    assert not found, "\n".join([*found, answer.repeat])
    assert len(stated) > 20


@over_matrix
def test_who_holds_it(gdb, build):
    made = harness.make_core(build, "holders")
    (answer,) = harness.ask_core(gdb, build, "holders", "py-async-bt --all --json")
    check(answer, made.oracle)


@over_matrix
def test_threads_that_wait_for_locks(gdb, build):
    made = harness.make_core(build, "holder_threads")
    (answer,) = harness.ask_core(gdb, build, "holder_threads", "py-async-bt --all --json")
    threads = {thread["native_id"]: thread for thread in answer.json()["threads"]}
    number = {thread["num"]: native_id for native_id, thread in threads.items()}
    stated = made.oracle["notes"]["threads"]
    found = []
    for name, theirs in stated.items():
        waits_on = threads[theirs.pop("native_id")]["waits_on"]
        mine = waits_on and {
            "kind": waits_on["kind"],
            "object": waits_on["object"],
            **holders_of(waits_on),
            "holder_threads": [number[holder["thread"]] if holder["id"] is None else None for holder in waits_on["holders"]],
        }
        theirs["holder_threads"] = [
            native_id if holder["id"] is None else None for holder, native_id in zip(theirs["holders"], theirs["holder_threads"])
        ]
        found += compare.unequal(name, mine, theirs)
    waits = [thread["native_id"] for thread in threads.values() if thread["waits_on"] and thread["waits_on"]["kind"] == "lock"]
    found += [] if len(waits) == 15 else [f"{len(waits)} threads wait for a lock"]
    assert not found, "\n".join([*found, answer.repeat])
