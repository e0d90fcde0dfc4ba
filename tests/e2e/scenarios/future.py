"""A plain future that two tasks wait for, and another that nobody waits for any more."""

import asyncio

import oracle


async def waits(future):
    await future


async def main():
    future = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        group.create_task(waits(future), name="first")
        group.create_task(waits(future), name="second")
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
