"""`py-async-bt --compat` prints the text of asyncio.format_call_graph(), for every task of which that function tells the truth."""

import compare
import harness
import pytest

pytestmark = [
    pytest.mark.parametrize("scenario", [name for name in harness.SCENARIOS if name not in harness.BIG]),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def test_compat_is_the_text_of_format_call_graph(reading):
    ours = {compare.address_of(block): block for block in compare.parse_call_graph(reading.text("compat.txt"))}
    oracle = reading.oracle
    for task in oracle["tasks"]:
        if "text" in task:
            (right,) = compare.parse_call_graph(compare.expected_call_graph(oracle, task["text"]))
            assert ours.get(task["id"]) == right, reading.repeat("compat.txt")


def test_compat_has_every_task_once_and_nothing_else(reading):
    titles = [compare.address_of(block) for block in compare.parse_call_graph(reading.text("compat.txt"))]
    assert sorted(titles) == sorted(task["id"] for task in reading.oracle["tasks"]), reading.repeat("compat.txt")
