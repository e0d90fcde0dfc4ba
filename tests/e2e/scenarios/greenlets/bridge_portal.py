"""
Portals, as greenback makes them: a task's coroutines run inside a greenlet, and synchronous code in there awaits through the task.

asyncio itself sees what stands outside of the portal only.
"""

import asyncio
import types

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet
from sqlalchemy.util import await_only, greenlet_spawn


@types.coroutine
def shim(coroutine):
    """What stands where the task's own coroutine was: it yields to the task what greenlets hand to it."""
    child = greenlet(trampoline)
    step = child.switch(coroutine)
    while not child.dead:
        yielded, resume = step
        step = resume.switch((yield yielded))
    return step


def trampoline(coroutine):
    return await_(coroutine)


def await_(coroutine):
    this = getcurrent()
    value = None
    while True:
        try:
            yielded = coroutine.send(value)
        except StopIteration as stop:
            return stop.value
        value = this.parent.switch((yielded, this))


async def deep():
    await asyncio.sleep(3600)


def sync_helper():
    await_(deep())


async def user_inner():
    sync_helper()


async def user_main():
    await user_inner()


async def portal():
    await shim(user_main())


async def waits():
    await deep()


async def no_sync_code():
    await shim(waits())


async def portal_in_portal():
    async def inside():
        await shim(user_inner())

    def sync():
        await_(inside())

    async def outside():
        sync()

    await shim(outside())


async def bridge_in_portal():
    def business():
        await_only(deep())

    async def spawns():
        await greenlet_spawn(business)

    async def outside():
        await_(spawns())

    await shim(outside())


async def portal_in_bridge():
    def business():
        await_only(shim_again())

    async def shim_again():
        await shim(user_inner())

    await greenlet_spawn(business)


async def yields():
    """A task that has yielded no future: what it runs is not certain."""

    async def forever():
        while True:
            await_(asyncio.sleep(0))

    await shim(forever())


@types.coroutine
def hands_over(future, *coroutines):
    """Yields a future, while it knows greenlets that drive coroutines."""
    one, other = greenlet(trampoline), greenlet(trampoline)
    for child, coroutine in zip((one, other), coroutines):
        child.switch(coroutine)
        future._asyncio_future_blocking = False
    future._asyncio_future_blocking = True
    yield future


async def near_miss():
    """The coroutine that a greenlet drives is suspended on another future than the task."""
    await hands_over(asyncio.get_running_loop().create_future(), deep())


async def ambiguous():
    """Two coroutines are suspended on the task's future."""

    async def on(future):
        await future

    future = asyncio.get_running_loop().create_future()
    one, other = on(future), on(future)
    await hands_over(future, one, other)


FUNCTIONS = (portal, no_sync_code, portal_in_portal, bridge_in_portal, portal_in_bridge, yields, near_miss, ambiguous)


async def main():
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(function(), name=function.__name__) for function in FUNCTIONS]
    await asyncio.sleep(0.05)
    oracle.bridged(tasks, {"shim": "resume"})
    # asyncio stops at a generator; where it stands for no portal, ours has it.
    oracle.extra["texts"] = {task.get_name(): asyncio.format_call_graph(task) for task in tasks[:-3]}
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
