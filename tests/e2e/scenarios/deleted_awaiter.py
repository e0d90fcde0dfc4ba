"""
Awaited-by sets with a deleted entry: one of five waiters was cancelled, and one of two. The slot keeps its place, with
the hash -1.
"""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def waits(task):
    await asyncio.wait([task])


async def main():
    task = asyncio.create_task(sleeps(), name="task")
    waiters = [asyncio.create_task(waits(task), name=f"waiter {n}") for n in range(5)]
    other = asyncio.create_task(sleeps(), name="other")
    others = [asyncio.create_task(waits(other), name=f"other waiter {n}") for n in range(2)]
    await asyncio.sleep(0)
    waiters[1].cancel()
    others[0].cancel()
    await oracle.stop_after_this()


asyncio.run(main())
