"""
Damaged memory: bits flipped, pages zeroed, pointers swapped in tasks, their list nodes, coroutines, code objects, strings, sets
and thread states of a real core, each in turn read by real GDB. No crash, no hang, no memory without bound; and every task that the
damage did not touch is still told as it is.
"""

import json
import os
import shutil

import harness
import pytest

SHORT, LONG = 50, 500  # for each of the four builds


def read_damaged(gdb, build, first, last):
    """The results of the damages with these numbers."""
    core = harness.make_target(build, "damage").core
    with harness.scratch_folder() as scratch:
        shutil.copy(core, scratch / "work")
        shutil.copy(harness.HERE / "damage_gdb.py", scratch)
        files = {"core": core, "work": scratch / "work", "results": scratch / "results", "scratch": scratch}
        job = {key: harness.seen_by(gdb, path) for key, path in files.items()}
        (scratch / "job.json").write_text(json.dumps({**job, "numbers": [first, last]}))
        script = harness.seen_by(gdb, scratch / "damage_gdb.py")
        words = ["-ex", f"source {harness.seen_by(gdb, harness.PLACE)}/gdb/pyasync.py", "-x", script]
        environment = {**os.environ, "PYASYNC_DAMAGE": harness.seen_by(gdb, scratch / "job.json")}
        done = harness.run(harness.gdb_command(gdb, None, *words), 60 + 2 * (last - first), env=environment)
        lines = (scratch / "results").read_text().splitlines() if (scratch / "results").exists() else []
    results = {result["number"]: result for result in map(json.loads, lines)}
    assert sorted(results) == list(range(first, last)) and "lost" in results[last - 1], f"{lines[-1:]}\n{done}"
    return results.values()


def check(results):
    for result in results:
        assert result["seconds"] < 10, result
        assert result["megabytes"] < 1024, result
        assert "internal error" not in str(result), result
        assert not result["lost"], result
    # The test damages something, and most tasks are left to be told.
    assert sum(not result["complete"] for result in results) > len(results) / 10
    assert sum(result["untouched"] for result in results) > 20 * len(results)


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_damage(gdb, build):
    check(read_damaged(gdb, build, 0, SHORT))


@pytest.mark.long
@pytest.mark.parametrize("gdb, build", harness.PAIRS)
@pytest.mark.parametrize("part", range(5))
def test_more_damage(gdb, build, part):
    size = (LONG - SHORT) // 5
    check(read_damaged(gdb, build, SHORT + part * size, SHORT + (part + 1) * size))


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_all_lists_are_broken(gdb, build):
    """Neither asyncio's lists of tasks nor the garbage collector's can be followed: tasks are found in memory, and that is said."""
    (result,) = read_damaged(gdb, build, -1, 0)
    assert result["what"] == "lists" and not result["complete"], result
    assert not result["lost"] and set(result["found"]) <= {"scan", "gc", "reference"} and "scan" in result["found"], result
