"""The commands say the same of one target, each in its own form."""

import collections
import re

import harness
import pytest

pytestmark = [
    pytest.mark.parametrize("scenario", [name for name in harness.SCENARIOS if name not in harness.BIG]),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def ids(document):
    return [task["id"] for task in document["tasks"]]


def test_json_of_awaited_by_and_tasks_is_that_of_backtrace(reading):
    theirs = reading.json("bt.json")
    for name in ("awaited_by.json", "tasks.json"):
        ours = reading.json(name)
        for key in ("tasks", "futures", "loops", "cycles", "complete", "python", "process"):
            assert ours[key] == theirs[key], f"{key}\n{reading.repeat(name)}"


def test_any_state_adds_tasks_that_have_ended_and_nothing_else(reading):
    live, every = ids(reading.json("bt.json")), reading.json("any.json")["tasks"]
    assert [task["id"] for task in every if task["state"] == "pending"] == live, reading.repeat("any.json")


def test_tasks_has_one_line_a_task(reading):
    """Address, activity, thread, name: in the order of the JSON."""
    lines = [line for line in reading.text("tasks.txt").splitlines() if re.match(r"0x[0-9a-f]+  ", line)]
    tasks = reading.json("bt.json")["tasks"]
    assert [line.split()[:2] for line in lines] == [[task["id"], task["activity"]] for task in tasks], reading.repeat("tasks.txt")


def test_every_text_ends_with_what_it_is_complete_of(reading, scenario):
    if scenario in harness.DAMAGED:
        for name in ("bt.txt", "awaited_by.txt", "tasks.txt"):
            assert reading.text(name).splitlines()[-1] == "INCOMPLETE: 1 problem, above.", reading.repeat(name)
        return
    tasks, threads = len(reading.json("bt.json")["tasks"]), len(reading.json("bt.json")["threads"])
    for name in ("bt.txt", "awaited_by.txt", "tasks.txt"):
        last = reading.text(name).splitlines()[-1]
        counted = re.match(r"Complete: ([\d,]+) tasks? in (\d+) threads?( of \d+ interpreters)?\.$", last)
        assert counted, f"{last}\n{reading.repeat(name)}"
        assert int(counted[1].replace(",", "")) == tasks and int(counted[2]) == threads, f"{last}\n{reading.repeat(name)}"


def test_head_is_at_most_twelve_lines(reading):
    for name in ("bt.txt", "awaited_by.txt", "tasks.txt"):
        lines = reading.text(name).splitlines()
        head = next((n for n, line in enumerate(lines) if line.startswith(("* ", "0x", "Complete"))), len(lines))
        assert 2 <= head <= 12, reading.repeat(name)


def test_head_counts_what_tasks_do_and_wait_on(reading):
    tasks = reading.json("bt.json")["tasks"]
    does = collections.Counter(task["waits_on"]["kind"] if task["activity"] == "waiting" else task["activity"] for task in tasks)
    (totals,) = re.findall(r"^(?:[\d,]+ tasks?: ([^;\n]*)|No task is alive)", reading.text("bt.txt"), re.M)
    parts = [part.replace(",", "").split(" ") for part in totals.split(", ") if part]
    assert {name: int(count) for count, name in parts} == does, reading.repeat("bt.txt")
    assert [int(count) for count, _ in parts] == sorted(does.values(), reverse=True), reading.repeat("bt.txt")


def test_info_names_python_and_the_thread_of_every_thread_state(reading):
    text, document = reading.text("info.txt"), reading.json("bt.json")
    assert f"CPython {reading.oracle['python'].rstrip('+')}" in text, reading.repeat("info.txt")
    for thread in document["threads"]:
        assert f"thread {thread['num']}, LWP {thread['lwp']}: PyThreadState 0x" in text, reading.repeat("info.txt")
