"""
Eager tasks: the first step of each runs inside create_task() of its parent, three deep, and the process dies in the innermost.

All three are on one thread's stack and only the innermost is asyncio's current task. asyncio's own text of the others
would show one frame; here their frames are those of the thread down to the task's own coroutine.
"""

import asyncio

import oracle


async def inner():
    oracle.stop()


async def middle():
    await asyncio.create_task(inner(), name="inner")


async def helper():
    await asyncio.create_task(middle(), name="middle")


async def outer():
    await helper()


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), name="sleeps")
        group.create_task(outer(), name="outer")


asyncio.run(main())
