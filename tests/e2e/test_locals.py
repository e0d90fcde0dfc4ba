"""Variables and their values: what repr() gives in the process itself."""

import harness
import pytest

ALL = "py-async-bt --all --no-group --locals --locals-depth 60 --locals-length 100000"

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


def differences(oracle, document):
    ours = {task["id"]: task for task in document["tasks"]}
    for task in oracle["tasks"]:
        mine = ours[task["id"]]
        if len(mine["locals"]) != len(task["stack"]):
            yield f"{task['name']}: {len(mine['locals'])} frames, but the oracle says {len(task['stack'])}"
            continue
        for frame, found in zip(task["stack"], mine["locals"]):
            if "locals" not in frame:
                continue
            label = f"{task['name']}: {frame['function']}"
            if list(found) != list(frame["locals"]):
                yield f"{label}: {list(found)}, but the oracle says {list(frame['locals'])}"
            for name, expected in frame["locals"].items():
                for key, value in expected.items():
                    got = found.get(name, {}).get(key)
                    # A tagged int is no object; a small int made of it has an address that nobody else knows.
                    if key == "address" and got is None and expected["type"] == "int":
                        continue
                    if got != value:
                        yield f"{label}: {name}: {key}\n  {got!r}, but the oracle says\n  {value!r}"


@over_matrix
def test_values_are_what_repr_gives(gdb, build):
    made = harness.make_core(build, "locals")
    (answer,) = harness.ask_core(gdb, build, "locals", f"{ALL} --json")
    found = list(differences(made.oracle, answer.json()))
    assert not found, "\n".join([*found, answer.repeat])
