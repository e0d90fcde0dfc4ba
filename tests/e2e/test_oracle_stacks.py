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


def test_result_is_complete(reading):
    document = reading.json("bt.json")
    assert document["complete"] and not document["problems"], f"{document['problems']}\n{reading.repeat('bt.json')}"
