"""Many tasks and deep graphs: more than CPython's own reader takes (65,536 tasks), and deeper than any recursion."""

import re

import harness
import pytest

pytestmark = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


@pytest.mark.parametrize("scenario", ["many"])
def test_seventy_thousand_tasks_are_one_group(reading):
    """What the JSON says of each is compared with the oracle in test_oracle_stacks."""
    text = reading.text("bt.txt")
    assert "70,001 tasks: 70,001 waiting\n" in text, reading.repeat("bt.txt")
    group = r"^\* 70,000 tasks in sleeps \(many\.py:11\), waiting(: [^:]*)?: Task-2, Task-3, Task-4, Task-5, Task-6, …$"
    assert re.search(group, text, re.M), reading.repeat("bt.txt")
    assert text.endswith("Complete: 70,001 tasks in 1 thread.\n"), reading.repeat("bt.txt")
    assert len(text.splitlines()) < 20, reading.repeat("bt.txt")
    names = re.findall(r"^0x[0-9a-f]+  waiting    thread 1  'Task-(\d+)'", reading.text("tasks.txt"), re.M)
    assert sorted(map(int, names)) == list(range(1, 70_002)), reading.repeat("tasks.txt")


@pytest.mark.parametrize("scenario", ["deep_awaited_by"])
def test_ten_thousand_levels(reading):
    """9,999 tasks wait in the same place for one another; the text stays short."""
    text = reading.text("bt.txt")
    assert "* 9,999 tasks in waits (deep_awaited_by.py:15), waiting" in text, reading.repeat("bt.txt")
    assert text.endswith("Complete: 10,001 tasks in 1 thread.\n"), reading.repeat("bt.txt")
    assert len(text.splitlines()) < 40, reading.repeat("bt.txt")


@pytest.mark.parametrize("scenario", ["echo"])
def test_a_thousand_clients_and_handlers(reading):
    """Their handlers wait for them, and they for their answers, each thousand in one group."""
    text = reading.text("bt.txt")
    for function, line in (("main.<locals>.client", 25), ("main.<locals>.handle", 17)):
        assert f"* 1,000 tasks in {function} (echo.py:{line}), waiting" in text, reading.repeat("bt.txt")
    assert text.endswith("Complete: 2,002 tasks in 1 thread.\n"), reading.repeat("bt.txt")
