"""
as_completed(): by async for and by the plain iterator with a timeout, each in a task of its own, each after its first
child ended.
"""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def ends():
    pass


async def by_async_for():
    async for _ in asyncio.as_completed([asyncio.create_task(sleeps()), asyncio.create_task(ends())]):
        pass


async def by_iterator():
    for awaitable in asyncio.as_completed([sleeps(), ends()], timeout=1000):
        await awaitable


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(by_async_for(), name="by_async_for")
        group.create_task(by_iterator(), name="by_iterator")
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
