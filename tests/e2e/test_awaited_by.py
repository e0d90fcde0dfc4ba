"""py-awaited-by: who waits for whom, to the roots."""

import compare
import harness
import pytest

matrix = [
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def over(*scenarios):
    """Run a test over these scenarios and the whole matrix."""

    def mark(test):
        for parameter in (pytest.mark.parametrize("scenario", scenarios), *matrix):
            test = parameter(test)
        return test

    return mark


def refers(block):
    """Whether a block only says that its node was shown before."""
    return any(line.startswith("  : shown above") for line in block.lines)


def blocks_of(text):
    return list(compare.every_block(compare.parse_trees(text)))


@over(*(name for name in harness.SCENARIOS if name not in harness.BIG))
def test_forest_is_the_graph_with_every_node_once(reading):
    """Each node stands in full exactly once, with exactly its awaiters below; wherever else it comes up it is only referred to."""
    document = reading.json("bt.json")
    awaited_by = {node["id"]: sorted(edge["id"] for edge in node["awaited_by"]) for node in document["tasks"]}
    full = [block for block in blocks_of(reading.text("forest.txt")) if not refers(block)]
    assert sorted(compare.address_of(block) for block in full) == sorted(awaited_by), reading.repeat("forest.txt")
    for block in full:
        below = sorted(compare.address_of(awaiter) for awaiter in block.awaiters)
        assert below == awaited_by[compare.address_of(block)], f"{block.title}\n{reading.repeat('forest.txt')}"


@over(*(name for name in harness.SCENARIOS if name not in harness.BIG))
def test_a_cycle_is_named_and_nothing_else_is_called_one(reading):
    """In the forest, grouped and not, and in the head, where one whose members all wait is a deadlock."""
    document = reading.json("bt.json")
    cycles = document["cycles"]
    findings = sum(finding["kind"] not in compare.UNSTATED for finding in document["findings"])
    deadlocks = [set(finding["tasks"]) for finding in document["findings"] if finding["kind"] == "deadlock"]
    others = [cycle for cycle in cycles if not any(tasks <= set(cycle) for tasks in deadlocks)]
    members = {address for cycle in cycles for address in cycle}
    for name in ("forest.txt", "awaited_by.txt", "bt.txt"):
        called = [block for block in blocks_of(reading.text(name)) if "  : shown above: a cycle" in block.lines]
        assert {compare.address_of(block) for block in called} <= members, reading.repeat(name)
        assert bool(called) == bool(cycles), reading.repeat(name)
        named = [line for line in reading.text(name).splitlines() if line.startswith("! cycle: ")]
        assert len(named) == min(len(others), max(0, 3 - findings)), reading.repeat(name)


@over("cycle")
def test_cycles_are_those_of_the_scenario(reading):
    document = reading.json("bt.json")
    names = {task["id"]: task["name"] for task in document["tasks"]}
    found = {frozenset(names[address] for address in cycle) for cycle in document["cycles"]}
    assert found == {frozenset("ab"), frozenset("xyz"), frozenset({"own"})}, reading.repeat("bt.json")
    assert "! cycle: own waits for own\n" in reading.text("bt.txt")
    assert "  : shown above: a cycle\n" in reading.text("bt.txt")


@over("diamond")
def test_diamonds_are_shown_once(reading):
    """64 ways lead from a task at the bottom to the root; the text is as long as the graph."""
    blocks = blocks_of(reading.text("forest.txt"))
    tasks = reading.json("bt.json")["tasks"]
    edges = sum(len(task["awaited_by"]) for task in tasks)
    assert len(tasks) == 13 and edges == 22
    assert sum(not refers(block) for block in blocks) == len(tasks), reading.repeat("forest.txt")
    assert len(blocks) <= len(tasks) + edges, reading.repeat("forest.txt")


@over("stale_awaiter")
def test_ended_awaiters_are_counted_and_never_shown(reading):
    ended = {task["id"] for task in reading.oracle["ended"]}
    assert len(ended) == 3
    for name in ("forest.txt", "awaited_by.txt", "bt.txt", "tasks.txt", "compat.txt"):
        assert not any(address in reading.text(name) for address in ended), reading.repeat(name)
    stale = {task["name"]: task["stale_awaiters"] for task in reading.json("bt.json")["tasks"] if task["stale_awaiters"]}
    assert stale == {"single": 1, "mixed": 3}
    notes = {compare.address_of(block): block.lines for block in blocks_of(reading.text("forest.txt")) if not refers(block)}
    by_name = {task["name"]: notes[task["id"]] for task in reading.json("bt.json")["tasks"]}
    assert "  : 1 awaiter has ended and is left out" in by_name["single"], reading.repeat("forest.txt")
    assert "  : 3 awaiters have ended and are left out" in by_name["mixed"], reading.repeat("forest.txt")
    assert not any("ended" in line for line in by_name["real"]), reading.repeat("forest.txt")


@over("deep_awaited_by")
def test_ten_thousand_levels_are_cut_with_their_root(gdb, build, scenario):
    tree, shallow, root, middle = harness.ask_core(
        gdb, build, scenario,
        "py-awaited-by 0", "py-awaited-by --depth 2 0", "py-awaited-by 9999", "py-async-bt 5000 --depth 1",
    )  # fmt: skip
    for answer, first, levels in ((tree, 0, 40), (shallow, 0, 2), (root, 9999, 0), (middle, 5000, 1)):
        titles = [block.title.partition(",")[0] for block in blocks_of(answer.text)]
        assert sorted(titles) == sorted(f"* Task(name='{first + level}'" for level in range(levels + 1)), answer
    assert "… 9,959 more levels, root: Task(name='9999', id=0x" in tree.text, tree
    assert "… 9,997 more levels, root: Task(name='9999', id=0x" in shallow.text, shallow
    assert "more level" not in root.text, root
    assert "… 4,998 more levels, root: Task(name='9999', id=0x" in middle.text, middle


@over("diamond", "cycle")
def test_what_is_below_the_last_level_is_counted_by_its_longest_way_once(gdb, build, scenario):
    (answer,) = harness.ask_core(gdb, build, scenario, f"py-awaited-by --depth 1 {'0.0' if scenario == 'diamond' else 'x'}")
    cut = [line.strip() for line in answer.text.splitlines() if "more level" in line]
    if scenario == "diamond":
        (task,) = [task for task in harness.make_core(build, scenario).oracle["tasks"] if task["name"] == "Task-1"]
        assert cut == [f"… 5 more levels, root: Task(name='Task-1', id={task['id']})"] * 2, answer
    else:
        assert len(cut) == 1 and cut[0].startswith("… "), answer


@over("future")
def test_a_plain_future_has_waiters_too(gdb, build, scenario):
    oracle = harness.make_core(build, scenario).oracle
    names = {task["id"]: task["name"] for task in oracle["tasks"]}
    (future,) = [future for future in oracle["futures"] if len(future["awaited_by"]) == 2]
    (answer,) = harness.ask_core(gdb, build, scenario, f"py-awaited-by {future['id']}")
    (block,) = compare.parse_trees(answer.text)
    assert block.title == f"* Future(id={future['id']})", answer
    assert {names[compare.address_of(awaiter)] for awaiter in block.awaiters} == {"first", "second"}, answer
    assert answer.error is None
