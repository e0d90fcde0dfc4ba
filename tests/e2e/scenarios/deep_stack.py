"""A chain of 900 awaiting coroutines in one suspended task."""

import asyncio

import oracle


async def recurse(depth):
    if depth:
        await recurse(depth - 1)
    else:
        await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(recurse(900), name="deep")
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
