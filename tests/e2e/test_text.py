"""
The text itself: golden files, escaping, secrets, source lines.

PYASYNC_UPDATE=1 writes golden/ anew from what is printed now: read the difference before you commit it.
"""

import json
import os
import re

import compare
import harness
import pytest

# Of these the text is the same in every run: one thread, and no set of several awaiters, which stand in the order of
# their addresses.
GOLDEN = (
    "awaitables", "callback", "coroutine_objects", "created", "eager", "gather", "hostile",
    "no_tasks", "secrets", "shield", "stale_awaiter",
)  # fmt: skip
TEXTS = ("bt", "awaited_by", "tasks")

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over(*scenarios):
    """Run a test over these scenarios and the whole matrix."""

    def mark(test):
        for parameter in (pytest.mark.parametrize("scenario", scenarios), *matrix):
            test = parameter(test)
        return test

    return mark


def normalised(text):
    """The one place where what differs from run to run and from build to build is made equal."""
    numbers = {}
    text = re.sub(r"\b0x[0-9a-f]{5,}", lambda match: f"0x{numbers.setdefault(match[0], len(numbers) + 1):03}", text)
    text = text.replace(harness.inside(harness.PLACE) + "/", "/pyasync/")
    text = re.sub(r"(oracle\.py(?:', line |:))\d+", r"\1N", text)
    text = re.sub(r"'/usr/lib/python3\.\d+/(.*?)', line \d+", r"'/usr/lib/python3.N/\1', line N", text)
    text = re.sub(r"\b(timer in|due in|overdue by) [\d.,]+ m?s\b", r"\1 N s", text)
    return re.sub(r" {2,}(?=thread|'|in |awaited by)", "  ", text)


@over(*GOLDEN)
def test_text_is_the_golden_one(reading, scenario):
    for name in TEXTS:
        text = normalised(reading.text(f"{name}.txt"))
        golden = harness.HERE / "golden" / f"{scenario}.{name}.txt"
        if os.environ.get("PYASYNC_UPDATE"):
            harness.replace(golden, text.encode())
        assert text == golden.read_text(), f"{golden}\n{reading.repeat(f'{name}.txt')}"


# ---- what the target holds reaches no terminal raw


def unprintable(text):
    return sorted({c for c in text if not c.isprintable() and c != "\n"})


@over("hostile", "names", "non_ascii")
def test_hostile_text_is_escaped_everywhere(reading, scenario):
    """Control characters, newlines, bidirectional controls and lone surrogates."""
    for name in harness.commands_of(scenario):
        assert not unprintable(reading.text(name)), f"{unprintable(reading.text(name))}\n{reading.repeat(name)}"


@over("hostile")
def test_no_line_is_forged(reading):
    """Every line that begins like a task's is one."""
    tasks = {task["id"] for task in reading.oracle["tasks"]}
    for name in ("forest.txt", "compat.txt"):
        lines = [line for line in reading.text(name).splitlines() if line.startswith("* Task(")]
        assert {line.rpartition("id=")[2].rstrip(")") for line in lines} <= tasks, reading.repeat(name)
    assert not any(line.startswith("  |   File 'x'") for line in reading.text("compat.txt").splitlines())


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_hostile_text_is_in_no_error_and_completion(gdb, build):
    """In an error `?` stands for each character that is not printable. Only names that need no quotes are completed."""
    made = harness.make_core(build, "hostile")
    loop = made.oracle["tasks"][0]["loop"]
    named, hostile, plain = harness.ask_core(
        gdb, build, "hostile", f"py-async-bt {loop}", "complete py-async-bt n", "complete py-async-bt T"
    )
    assert named.error == f'{loop} = {loop} is a "?[31mloop" object, no task, future, coroutine or generator', named
    assert hostile.error is None and hostile.text == "", hostile
    assert sorted(plain.text.splitlines()) == ["py-async-bt Task-1", "py-async-bt Task-2"], plain


# ---- secrets


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_secrets_are_shown_on_demand_only(gdb, build):
    """What stands for them by default is compared in test_oracle_stacks."""
    lists = (
        "py-async-bt --all --no-group", "py-async-bt --compat --all", "py-awaited-by --no-group", "py-async-tasks",
        "py-async-bt --json",
    )  # fmt: skip
    plain = [f"{command} --show-secrets" for command in lists]
    answers = harness.ask_core(gdb, build, "secrets", *lists, *plain)
    for hidden, shown in zip(answers[: len(lists)], answers[len(lists) :]):
        assert "hunter2secret" not in hidden.text and "<redacted>" in hidden.text, hidden
        assert "hunter2secret" in shown.text and "<redacted>" not in shown.text, shown
    names = sorted(task["name"] for task in harness.make_core(build, "secrets").oracle["tasks"])
    assert sorted(task["name"] for task in answers[-1].json()["tasks"]) == names, answers[-1]


# ---- --source


def frames_with_source(answer):
    """(file, line, source line or None) of every frame in the text."""
    found = []
    for line in answer.text.splitlines():
        frame = re.match(r" *\|   File '(.*)', line (\d+), in ", line)
        source = re.match(r" *\|       (\S.*)$", line)
        if frame:
            found.append((frame[1], int(frame[2]), None))
        elif source:
            found.append((*found.pop()[:2], source[1]))
    return found


def expected_source(file, number):
    """The line as it stands in the root."""
    return (harness.ROOT / file[1:]).read_text().splitlines()[number - 1].strip()


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_source_lines_come_through_the_sysroot(gdb, build):
    with_source, without = harness.ask_core(gdb, build, "gather", "py-async-bt --all --source", "py-async-bt --all")
    frames = frames_with_source(with_source)
    assert len(frames) >= 5, with_source
    for file, number, source in frames:
        assert source == expected_source(file, number), with_source
    assert all(source is None for *_, source in frames_with_source(without)), without


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_source_lines_follow_substitute_path(gdb, build, scratch):
    """A file elsewhere takes the place of the one in the root; where there is none, no line is shown and nothing is said."""
    harness.prepare()
    scenarios = f"{harness.inside(harness.PLACE)}/scenarios"
    text = (harness.PLACE / "scenarios/gather.py").read_text()
    (scratch / "gather.py").write_text("".join(f"{line}  # moved\n" for line in text.splitlines()))
    moved = f"set substitute-path {scenarios} {harness.seen_by(gdb, scratch)}"
    (answer,) = harness.ask_core(gdb, build, "gather", "py-async-bt --all --source", before=[moved])
    for file, number, source in frames_with_source(answer):
        if file == f"{scenarios}/gather.py":
            assert source == expected_source(file, number) + "  # moved", answer
        elif file.startswith(scenarios):
            assert source is None, answer  # oracle.py is not there
        else:
            assert source == expected_source(file, number), answer
    assert answer.error is None


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_source_of_files_that_are_not_there(gdb, build):
    """Names made to deceive, and code that was compiled from no file."""
    for scenario in ("hostile", "lines"):
        plain, source = harness.ask_core(gdb, build, scenario, "py-async-bt --all", "py-async-bt --all --source")
        assert source.error is None, source
        for file, _, line in frames_with_source(source):
            assert (line is None) == (not file.startswith("/usr/lib/python3") and "/scenarios/" not in file), source
        assert not unprintable(source.text), source
        kept = [line for line in source.text.splitlines() if not re.match(r" *\|       \S", line)]
        assert kept == plain.text.splitlines(), source


@over("gather")
def test_json_keeps_to_one_document(reading):
    """Nothing stands before or after it."""
    text = reading.text("bt.json")
    assert json.JSONDecoder().raw_decode(text)[1] == len(text.rstrip()), reading.repeat("bt.json")
    assert compare.by_id(json.loads(text)["tasks"])
