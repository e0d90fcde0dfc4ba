"""py-greenlets against what greenlet itself says: states, threads, parents, stacks."""

import functools

import compare
import harness
import pytest

SCENARIOS = tuple(sorted(path.stem for path in (harness.HERE / "scenarios/greenlets").glob("*.py") if not path.stem.endswith("oracle")))
COMMANDS = ("py-greenlets --json", "py-greenlets --all")


@functools.cache
def answers(gdb, build):
    """What one GDB says of every scenario's core: it reads them all."""
    cores = [harness.make_core(build, f"greenlets/{name}").core for name in SCENARIOS]
    targets = [f"core {harness.seen_by(gdb, core)}" for core in cores]
    return dict(zip(SCENARIOS, harness.ask_all(gdb, f"/usr/bin/{build}", targets, COMMANDS)))


def differences(oracle, document):
    """Everything in which the document is not what the oracle says."""
    found = []
    native_ids = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    ours, theirs = compare.by_id(document["greenlets"]), compare.by_id(oracle["greenlets"])
    found += [f"greenlet {key} is missing" for key in theirs.keys() - ours.keys()]
    found += [f"greenlet {key} is not alive" for key in ours.keys() - theirs.keys()]
    for key in theirs.keys() & ours.keys():
        mine, right = ours[key], theirs[key]
        for field in ("type", "state", "main", "parent", "c_calls"):
            if field in right:
                found += compare.unequal(f"greenlet {key}: {field}", mine[field], right[field])
        found += compare.unequal(f"greenlet {key}: thread", native_ids.get(mine["thread"]), right["thread"])
        stack = compare.frames(document, mine["stack"])
        if stack != (expected := compare.oracle_frames(right["stack"])):
            found.append(f"greenlet {key}: stack{compare.frame_lines(stack)}\n    not{compare.frame_lines(expected)}")
        for field, value in right.get("run", {}).items():
            found += compare.unequal(f"greenlet {key}: run {field}", mine["run"].get(field), value)
    threads = {thread["native_id"]: thread for thread in document["threads"]}
    for right in oracle["threads"]:
        mine = threads[right["native_id"]]
        found += compare.unequal(f"thread {right['native_id']}: greenlet", mine["greenlet"], right["greenlet"])
        stack = compare.frames(document, mine["stack"])
        if stack != (expected := compare.oracle_frames(right["stack"])):
            found.append(f"thread {right['native_id']}: stack{compare.frame_lines(stack)}\n    not{compare.frame_lines(expected)}")
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("build", harness.BUILDS)
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_greenlets_are_what_greenlet_says(gdb, build, scenario):
    answer = answers(gdb, build)[scenario][0]
    document = answer.json()
    assert document["complete"], answer
    found = differences(harness.make_core(build, f"greenlets/{scenario}").oracle, document)
    assert not found, "\n".join([*found, answer.repeat])
