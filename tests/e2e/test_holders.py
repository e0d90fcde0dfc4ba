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
