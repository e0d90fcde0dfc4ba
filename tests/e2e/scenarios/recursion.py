"""
A coroutine function that awaits itself 20 deep: suspended in one task, running in the other, so every frame has the
same code object.
"""

import asyncio

import oracle


async def recurse(depth, end):
    if depth:
        await recurse(depth - 1, end)
    elif end:
        end()
    else:
        await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(recurse(20, None), name="suspended")
        group.create_task(recurse(20, oracle.stop), name="running")


asyncio.run(main())
