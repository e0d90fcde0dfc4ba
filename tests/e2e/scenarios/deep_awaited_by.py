"""10,000 tasks, each awaiting the one before: far deeper than any recursion."""

import asyncio

import oracle

LEVELS = 10_000


async def bottom():
    await asyncio.sleep(1000)


async def waits(task):
    await task


async def main():
    task = asyncio.create_task(bottom(), name="0")
    for level in range(1, LEVELS):
        task = asyncio.create_task(waits(task), name=f"{level}")
    await oracle.stop_after_this()


asyncio.run(main())
