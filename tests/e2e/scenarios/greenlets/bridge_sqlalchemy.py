"""
SQLAlchemy's greenlet_spawn() and await_only(): tasks whose stack runs through greenlets, also nested.

asyncio itself sees the coroutines only; the frames in between are those of the greenlets.
"""

import asyncio

import greenlet_oracle as oracle
from greenlet import greenlet as greenlet_type
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


def stack_of(task):
    """The task's frames, innermost first, with the greenlets that they belong to."""
    entries, greenlets, awaitable = [], [], task.get_coro()
    while awaitable is not None and hasattr(awaitable, "cr_frame"):
        frame = awaitable.cr_frame
        entries.append(oracle.frame_entry(frame))
        greenlets.append(None)
        spawned = frame.f_locals.get("context") if frame.f_code.co_name == "greenlet_spawn" else None
        if isinstance(spawned, greenlet_type):
            inside = list(oracle.inner_to_outer(spawned.gr_frame))[::-1]
            entries += map(oracle.frame_entry, inside)
            greenlets += [oracle.address(spawned)] * len(inside)
        awaitable = awaitable.cr_await
    return {"name": task.get_name(), "stack": entries[::-1], "greenlets": greenlets[::-1] if any(greenlets) else None}


async def main():
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(function(), name=function.__name__) for function in (handler, nested, plain, on_future)]
    await asyncio.sleep(0.05)
    oracle.extra["tasks"] = [stack_of(task) for task in tasks]
    oracle.extra["texts"] = {task.get_name(): asyncio.format_call_graph(task) for task in tasks}
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
