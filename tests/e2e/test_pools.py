"""The objects that tasks wait in, of own classes and of libraries, as the scenario reads them itself."""

import compare
import harness
import pytest


@pytest.mark.parametrize("gdb", harness.GDBS)
@pytest.mark.parametrize("build", harness.BUILDS)
def test_pools_that_tasks_wait_in(gdb, build):
    made = harness.make_core(build, "pools")
    (answer,) = harness.ask_core(gdb, build, "pools", "py-async-bt --all --json")
    document = answer.json()
    notes = made.oracle["notes"]
    ours = compare.by_id(document["tasks"])
    pools = compare.by_id(document["pools"])
    found = []
    for task, within in notes["within"].items():
        found += compare.unequal(ours[task]["name"], ours[task].get("within", []), within)
    for pool, theirs in notes["pools"].items():
        mine = pools.get(pool)
        found += compare.unequal(theirs["type"], mine and {key: mine[key] for key in theirs}, theirs)
    assert not found, "\n".join([*found, answer.repeat])


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_text_shows_pools(gdb, build):
    """Of several that wait in one pool what they share; a request of its own that each waits in has nothing to show."""
    harness.make_core(build, "pools")
    (answer,) = harness.ask_core(gdb, build, "pools", "py-async-bt --all")
    pool = (
        "  : in Pool(_max_connections=3, _keepalive_expiry=5.0, _limit=inf, _retries=-1, _http2=False, _connections=list[3], "
        "_requests=list[4], _hooks=dict[2])\n"
    )
    assert answer.text.count(pool) == 1, answer
    slotted = "  : in Slotted(free=tuple[0], limit=10, ready=OrderedDict[1], used=frozenset[3], waiters=deque[1])\n"
    assert slotted in answer.text, answer
    assert "  : in Outer(inner=Many[1], level=1)\n" in answer.text, answer
    assert "1234" not in answer.text, answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_pools_and_locks_in_greenlets(gdb, build):
    oracle = harness.make_core(build, "greenlets/bridge_pool").oracle
    answer, text = harness.ask_core(gdb, build, "greenlets/bridge_pool", "py-async-bt --all --json", "py-async-bt waits")
    document = answer.json()
    task = next(task for task in document["tasks"] if task["name"] == "waits")
    assert task["within"] == oracle["within"], answer
    assert [pool["type"] for pool in document["pools"]] == ["AsyncAdaptedQueue", "AsyncAdaptedQueuePool", "Engine"], answer
    assert "_overflow=0, _max_overflow=0, _timeout=3600)\n" in text.text, text
    thread = next(thread for thread in document["threads"] if thread["native_id"] == oracle["thread"])
    assert thread["waits_on"]["object"] == oracle["lock"], answer
    (holder,) = thread["waits_on"]["holders"]
    assert (holder["id"], holder["function"], holder["how"]) == (oracle["holder"], "holds", "with"), answer
