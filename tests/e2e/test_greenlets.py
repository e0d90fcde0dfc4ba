"""py-greenlets against what greenlet itself says: states, threads, parents, stacks."""

import functools

import compare
import harness
import jsonschema
import pytest

VALIDATOR = jsonschema.Draft202012Validator(harness.json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text()))
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


def check(made, answer):
    document = answer.json()
    assert document["complete"], answer
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document)]
    found = [*errors, *compare.dangling(document), *differences(made.oracle, document)]
    assert not found, "\n".join([*found, answer.repeat])


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("build", harness.BUILDS)
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_greenlets_are_what_greenlet_says(gdb, build, scenario):
    check(harness.make_core(build, f"greenlets/{scenario}"), answers(gdb, build)[scenario][0])


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_without_any_file(gdb, build):
    """The executable, greenlet's module and their symbols are missing: the type comes from sys.modules."""
    made = {name: harness.make_core(build, f"greenlets/{name}") for name in SCENARIOS}
    targets = [f"core {harness.seen_by(gdb, each.core)}" for each in made.values()]
    before = [f"set sysroot {harness.seen_by(gdb, harness.PLACE)}/empty"]
    for each, (answer,) in zip(made.values(), harness.ask_all(gdb, None, targets, COMMANDS[:1], before=before)):
        check(each, answer)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_live(gdb, build, scenario, scratch):
    made = harness.Scenario(scratch, harness.scenario_command(build, f"greenlets/{scenario}", "live", scratch), "")
    with harness.running(made.command, scratch) as process:
        check(made, harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", COMMANDS[0])[0])


@pytest.mark.parametrize("build", harness.BUILDS)
def test_text_says_when_memory_was_searched(build):
    """During a collection the collector holds objects in lists of its own; after gc.freeze() they are in one of its usual ones."""
    collecting, freed = (answers("root-gdb", build)[scenario][1] for scenario in ("collecting", "freed"))
    assert "\nFound by a search of memory: the garbage collector was running\n" in collecting.text, collecting
    assert "Found by" not in freed.text, freed
    assert freed.text.endswith("Complete: 12 greenlets in 1 thread.\n"), freed
