"""What is certainly wrong: the head tells of it, what it is about comes first. (That nothing else is found, compare.py tests.)"""

import json
import re

import compare
import harness
import pytest

SCENARIOS = [name for name in harness.SCENARIOS if name.startswith("findings_")]

matrix = [
    pytest.mark.parametrize("scenario", SCENARIOS),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


@over_matrix
def test_head_tells_of_three(reading):
    """The same lines as in the document, then how many more there are; the head has at most 12 lines."""
    findings = reading.json("bt.json")["findings"]
    expected = [f"! {finding['kind']}: {finding['text']}" for finding in findings[:3]]
    for name in ("bt.txt", "tasks.txt", "awaited_by.txt"):
        lines = reading.text(name).splitlines()
        assert [line for line in lines if line.startswith("! ")] == expected, reading.repeat(name)
        more = [line for line in lines if re.fullmatch(r"… [\d,]+ more findings?; --json lists them", line)]
        count = f"… {len(findings) - 3} more finding{'s' * (len(findings) != 4)}; --json lists them"
        assert more == [count] * (len(findings) > 3), reading.repeat(name)
        head = next(i for i, line in enumerate(lines) if line.startswith(("* ", "0x")))
        assert head <= 12, reading.repeat(name)


@over_matrix
def test_groups_in_a_finding_come_first(reading):
    """Behind those that run; each group of the top level, by the tasks that it names or the one that it is."""
    document = reading.json("bt.json")
    tasks = {task["id"]: task for task in document["tasks"]}
    found = {address for finding in document["findings"] for address in finding["tasks"]}
    running = {task["id"] for task in document["tasks"] if task["activity"] in ("running", "executing")}
    ranks = []
    for line in reading.text("bt.txt").splitlines():
        single, group = re.match(r"\* Task\(.*id=(0x[0-9a-f]+)\)$", line), re.match(r"\* [\d,]+ tasks .*?: (.*?)(, …)?$", line)
        if single:
            ranks.append(0 if single[1] in running else 1 if single[1] in found else 2)
        elif group and not group[2]:
            members = {address for address, task in tasks.items() if task["name"] in group[1].split(", ")}
            ranks.append(0 if members & running else 1 if members & found else 2)
    assert ranks and ranks == sorted(ranks), f"{ranks}\n{reading.repeat('bt.txt')}"


def test_every_kind_has_a_scenario():
    """All kinds of the schema but those of greenlets, which have tests of their own."""
    schema = json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text())
    kinds = set(schema["properties"]["findings"]["items"]["properties"]["kind"]["enum"]) - {*compare.UNSTATED, "hub-blocked"}
    folder = harness.HERE / "scenarios"
    stated = {kind for path in folder.rglob("*.py") for kind in kinds if f'"{kind}"' in path.read_text()}
    assert stated == kinds
