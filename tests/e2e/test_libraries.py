"""
Programs of libraries, and of what asyncio code waits in most: where asyncio's own answer is short, ours has more frames,
and never fewer. (That all of it is right, test_oracle_stacks tells.)
"""

import harness
import pytest

# scenario: the tasks, by name, of which asyncio shows fewer frames than there are. A task that got no name is told by the
# functions of its outermost and innermost frames.
SHORT = {
    "aiohttp_request": {
        "websocket",
        "await",
        "object",
        "ClientRequest.write_bytes … sleep",
        "RequestHandler._handle_request … WebSocketDataQueue.read",
    },
    "aiosqlite_query": {"object", "transaction", "iterate"},
    "anyio_groups": set(),
    "coroutine_objects": {
        "slots", "attributes", "slots_and_attributes", "with_ended", "materialized", "many", "dictionary", "middle", "awaited",
        "nested", "generator", "created",
    },
    "cython_coroutines": {
        "iterates", "class", "python_on_compiled", "compiled_on_python", "sandwich", "for_compiled", "for_generator", "held",
    },
    "library_waits": {"decorated", "in_exit_stack", "consumes", "iterates", "leaves", "enters"},
    "uvloop_server": {"sock_recv", "sock_accept"},
}  # fmt: skip

pytestmark = [
    pytest.mark.parametrize("scenario", SHORT),
    pytest.mark.parametrize("build", harness.BUILDS),
    pytest.mark.parametrize("gdb", harness.GDBS),
]


def label(task, frames):
    return task["name"] if not task["name"].startswith("Task-") else f"{frames[-1]['function']} … {frames[0]['function']}"


def test_frames_that_asyncio_does_not_show(reading, scenario):
    document = reading.json("bt.json")
    ours = {task["id"]: document["stacks"][task["stack"]] for task in document["tasks"]}
    short = set()
    for task in reading.oracle["tasks"]:
        frames = [frame for frame in ours[task["id"]] if frame["kind"] != "awaitable"]
        if task["activity"] in ("running", "executing"):
            continue
        assert len(frames) >= task["asyncio_frames"], (task, reading.repeat("bt.json"))
        if len(frames) > task["asyncio_frames"]:
            short.add(label(task, frames))
    assert short == SHORT[scenario], reading.repeat("bt.json")


def test_a_chain_ends_at_a_future(reading, scenario):
    """Not at an object that cannot be followed, but for those two that the scenario has for that."""
    document = reading.json("bt.json")
    unknown = {task["name"] for task in document["tasks"] if document["stacks"][task["stack"]][:1] == [] or ends(document, task)}
    assert unknown == ({"two_held", "decoy"} if scenario == "coroutine_objects" else set()), reading.repeat("bt.json")
    for task in document["tasks"]:
        assert task["activity"] != "waiting" or task["waits_on"]["future"], (task, reading.repeat("bt.json"))


def ends(document, task):
    return document["stacks"][task["stack"]][0]["kind"] == "awaitable"
