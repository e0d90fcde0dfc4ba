"""What is shown of tasks beyond stacks: context variables, where they were created, why they failed."""

import re

import compare
import harness
import pytest

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


def by_id(answer):
    return compare.by_id(answer.json()["tasks"])


# ---- --context


def context_of(task):
    return [tuple(variable[key] for key in ("name", "type", "address", "value")) for variable in task["context"]]


@over_matrix
def test_context_variables_are_those_of_the_task(gdb, build):
    made = harness.make_core(build, "context")
    answer, text = harness.ask_core(gdb, build, "context", "py-async-bt --all --context --json", "py-async-bt --all --context")
    tasks = by_id(answer)
    for task in made.oracle["tasks"]:
        assert context_of(tasks[task["id"]]) == context_of(task), answer
    assert max(len(task["context"]) for task in tasks.values()) >= 300, answer
    assert "  : context: request_id = 'outer'\n" in text.text and "  : context: user = {'name': 'user 2'}\n" in text.text, text
    assert "  : context: naïve\\n\\x1b[31m = None\n" in text.text, text


def test_context_is_read_without_any_file():
    """Then the nodes of the trie have no names."""
    made = harness.make_core("python3.15", "context")
    core = harness.seen_by("host-gdb", made.core)
    (answer,) = harness.ask("host-gdb", None, f"core {core}", "py-async-bt --all --context --json", before=["set sysroot /nowhere"])
    tasks = by_id(answer)
    for task in made.oracle["tasks"]:
        assert context_of(tasks[task["id"]]) == context_of(task), answer


# ---- where a task was created


@over_matrix
def test_debug_mode_tells_where_a_task_was_created(gdb, build):
    made = harness.make_core(build, "debug_mode")
    answer, text = harness.ask_core(gdb, build, "debug_mode", "py-async-bt --all --json", "py-async-bt --all --no-group")
    tasks = by_id(answer)
    assert any("source_traceback" in task for task in made.oracle["tasks"])
    for task in made.oracle["tasks"]:
        assert tasks[task["id"]].get("source_traceback") == task.get("source_traceback"), answer
    script = f"{harness.inside(harness.PLACE)}/scenarios/debug_mode.py"
    assert f"  : created in create() at {script}:" in text.text and f"  : created in main() at {script}:" in text.text, text


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_without_debug_mode_nothing_is_said(gdb, build):
    (answer,) = harness.ask_core(gdb, build, "gather", "py-async-bt --all --json")
    assert all("source_traceback" not in task for task in answer.json()["tasks"]), answer


# ---- failed tasks


def exception_differences(document, mine, theirs):
    for field in ("type", "message"):
        yield from compare.unequal(f"{theirs['message']!r}: {field}", mine[field], compare.escaped(theirs[field]))
    yield from compare.unequal(f"{theirs['message']!r}: id", mine["id"], theirs["exception"])
    found, right = compare.frames(document, mine["stack"]), compare.oracle_frames(theirs["stack"])
    yield from compare.unequal(f"{theirs['message']!r}: stack", found, right)


@over_matrix
def test_failed_tasks_tell_why(gdb, build):
    made = harness.make_core(build, "failed")
    failed = made.oracle["failed"]
    names = " ".join(task["id"] for task in failed)
    answer, text, grouped = harness.ask_core(
        gdb, build, "failed", f"py-async-bt {names} --json", f"py-async-bt {names}", f"py-async-bt --group {names}"
    )
    document, found = answer.json(), []
    tasks = compare.by_id(document["tasks"])
    for theirs in failed:
        mine = tasks[theirs["id"]]["exception"]
        found += exception_differences(document, mine, theirs)
        found += compare.unequal("never_retrieved", mine["never_retrieved"], theirs["never_retrieved"])
        found += compare.unequal("length of chain", len(mine["chain"]), len(theirs["chain"]))
        for inner, outer in zip(mine["chain"], theirs["chain"]):
            found += exception_differences(document, inner, outer)
            found += compare.unequal("relation", (inner["relation"], inner["of"]), (outer["relation"], outer["of"]))
    assert not found, "\n".join([*found, answer.repeat])
    for line in (
        "  : failed with Problem: deep (never retrieved), raised at", "  : caused by KeyError: 'inner', raised at",
        "  : while handling FileNotFoundError: [Errno 2] No such file or directory: '/nowhere', raised at",
        "  : failed with Problem: retrieved, raised at", "  : with ValueError: one, raised at",
    ):  # fmt: skip
        assert f"{line}\n" in text.text, text
    reasons = {f"{task['type']}: {compare.escaped(task['message'])}" if task["message"] else task["type"] for task in failed}
    shown = re.findall(r"^  : Task-\d+ failed with (.*)$", grouped.text, re.MULTILINE)
    assert len(shown) == 5 and set(shown) <= reasons and " more failed; --no-group shows why" in grouped.text, grouped
