"""
SQLAlchemy's greenlet_spawn() and await_only(): tasks whose stack runs through greenlets, also nested.

asyncio itself sees the coroutines only; the frames in between are those of the greenlets.
"""

import asyncio

import greenlet_oracle as oracle
from sqlalchemy.util import await_only, greenlet_spawn


async def fetch():
    await asyncio.sleep(3600)


def helper():
    return await_only(fetch())


def business(times):
    return helper()


async def handler():
    await greenlet_spawn(business, 1)


def inner_sync():
    await_only(fetch())


async def mid_async():
    await greenlet_spawn(inner_sync)


def outer_sync():
    await_only(mid_async())


async def nested():
    await greenlet_spawn(outer_sync)


async def plain():
    await fetch()


async def on_future():
    await greenlet_spawn(lambda: await_only(asyncio.get_running_loop().create_future()))


async def main():
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(function(), name=function.__name__) for function in (handler, nested, plain, on_future)]
    await asyncio.sleep(0.05)
    oracle.bridged(tasks)
    oracle.extra["texts"] = {task.get_name(): asyncio.format_call_graph(task) for task in tasks}
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
