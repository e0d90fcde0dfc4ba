"""--stats: how many tasks stand where and are in which state, against the tasks one by one, which the oracle has confirmed."""

from collections import Counter

import harness
import pytest

over_matrix = [
    pytest.mark.parametrize("scenario", harness.SCENARIOS),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]

NO_STATES = dict.fromkeys(("pending", "done", "failed", "cancelled"), 0)
NO_ACTIVITIES = dict.fromkeys(("running", "executing", "ready", "waiting", "created", "ended"), 0)


def telling_frame(stack):
    """The innermost frame of the user's own code, else the innermost: here only the standard library is foreign."""
    frames = [frame for frame in stack if frame["kind"] != "awaitable"]
    own = [frame for frame in frames if frame["file"] and "/lib/python3" not in frame["file"] and frame["file"][0] != "<"]
    return (own or frames or [None])[0]


def counts(tasks):
    states = Counter(task["state"] for task in tasks)
    activities = Counter(task["activity"] for task in tasks)
    return {"tasks": len(tasks), "states": {**NO_STATES, **states}, "activities": {**NO_ACTIVITIES, **activities}}


def expected_of(document):
    places = {}
    for task in document["tasks"]:
        frame = telling_frame(document["stacks"][task["stack"]])
        places.setdefault(frame and tuple(frame.items()), []).append(task)
    return counts(document["tasks"]), {place: counts(tasks) for place, tasks in places.items()}


def over(*marks):
    def mark(test):
        for each in marks:
            test = each(test)
        return test

    return mark


@over(*over_matrix)
def test_counts_are_those_of_the_tasks(reading):
    document, stats = reading.json("bt.json"), reading.json("stats.json")["stats"]
    total, places = expected_of(document)
    frames = stats.pop("frames")
    assert stats == total, reading.repeat("stats.json")
    found = {place["frame"] and tuple(place["frame"].items()): {key: place[key] for key in total} for place in frames}
    assert len(found) == len(frames) and found == places, reading.repeat("stats.json")
    sizes = [place["tasks"] for place in frames]
    assert sizes == sorted(sizes, reverse=True), reading.repeat("stats.json")


@over(*over_matrix)
def test_the_document_lists_no_task(reading):
    document = reading.json("stats.json")
    assert document["tasks"] == [] and document["futures"] == []
    assert document["selection"]["shown"] == document["stats"]["tasks"]


@over(*over_matrix)
def test_text_says_the_same(reading):
    stats = reading.json("stats.json")["stats"]
    lines = reading.text("stats.txt").splitlines()
    if stats["tasks"] == 0:
        assert not any(line.split()[:1] == ["tasks"] for line in lines), reading.repeat("stats.txt")
        return
    begin = next(number for number, line in enumerate(lines) if line.split()[:1] == ["tasks"])
    rows = lines[begin + 1 : begin + 1 + len(stats["frames"])]
    for row, place in zip(rows, stats["frames"]):
        assert row.split()[0] == f"{place['tasks']:,}", reading.repeat("stats.txt")
    named = {**stats["activities"], **stats["states"]}
    columns = [name for name, count in named.items() if count and name not in ("pending", "ended")]
    assert sorted(lines[begin].split()) == sorted(["tasks", *columns]), reading.repeat("stats.txt")
    assert lines[-1].startswith(("Complete: ", "INCOMPLETE: "))


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_filters_limit_and_ended_tasks(gdb, build):
    every, ended, document, limited = harness.ask_core(
        gdb, build, "stale_awaiter", "py-async-bt --state any --stats --json", "py-awaited-by --state ended --stats --json",
        "py-async-tasks --state any --json", "py-async-bt --no-head --state any --stats --limit 1",
    )  # fmt: skip
    tasks = document.json()["tasks"]
    over_all, over_ended = every.json()["stats"], ended.json()["stats"]
    assert {key: over_all[key] for key in counts([])} == counts(tasks), every
    assert {key: over_ended[key] for key in counts([])} == counts([task for task in tasks if task["state"] != "pending"]), ended
    assert over_ended["tasks"] > 0 and [place["frame"] for place in over_ended["frames"]] == [None], ended
    more = len(over_all["frames"]) - 1
    assert more > 0 and f"… {more} more place{'s' * (more > 1)}; --all shows them" in limited.text, limited


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_named_tasks_are_counted(gdb, build):
    (answer,) = harness.ask_core(gdb, build, "threads", "py-async-bt --stats 'Task-*'")
    total = [line for line in answer.text.splitlines() if line.endswith("  in all")]
    names = [task["name"] for task in harness.make_core(build, "threads").oracle["tasks"]]
    assert total and total[0].split()[0] == str(sum(name.startswith("Task-") for name in names)), answer
