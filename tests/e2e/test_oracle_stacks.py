"""Every scenario's tasks, futures, loops and threads are what the process itself said of them before it died."""

import compare
import harness
import pytest

pytestmark = [
    pytest.mark.parametrize("scenario", harness.SCENARIOS),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def test_json_is_what_the_oracle_says(reading):
    document = reading.json("bt.json")
    found = compare.differences(reading.oracle, document)
    assert not found, "\n".join([*found[:20], f"… {len(found)} differences", reading.repeat("bt.json")])


def test_result_is_complete(reading, scenario):
    document = reading.json("bt.json")
    whole = document["complete"] and not document["problems"]
    assert whole == (scenario not in harness.DAMAGED), f"{document['problems']}\n{reading.repeat('bt.json')}"


def test_ended_tasks_are_what_the_oracle_says(reading, scenario):
    if scenario in harness.BIG:
        return
    found = list(compare.ended_differences(reading.oracle, reading.json("any.json")))
    assert not found, "\n".join([*found[:20], f"… {len(found)} differences", reading.repeat("any.json")])
