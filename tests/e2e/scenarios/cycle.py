"""
Cycles: two tasks that await each other, with a third that awaits one of them; a longer one with a tail inside; a task
awaited by itself.

asyncio forbids a task to await itself, so that edge is made by hand. format_call_graph() never ends on a cycle.
"""

import asyncio

import oracle


async def waits(tasks, name):
    await tasks[name]


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    tasks = {}
    for name, target in [("a", "b"), ("b", "a"), ("c", "a"), ("x", "y"), ("y", "z"), ("z", "x"), ("tail", "y")]:
        tasks[name] = asyncio.create_task(waits(tasks, target), name=name)
    own = asyncio.create_task(sleeps(), name="own")
    asyncio.future_add_to_awaited_by(own, own)
    oracle.finding("deadlock", [tasks["a"], tasks["b"]])
    oracle.finding("deadlock", [tasks["x"], tasks["y"], tasks["z"]])
    await oracle.stop_after_this()


asyncio.run(main())
