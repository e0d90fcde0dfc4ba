"""wait_for(): with a timeout, without one, and with one of zero, whose inner task does not let itself be cancelled."""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def stubborn():
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            pass


async def at_once():
    task = asyncio.create_task(stubborn(), name="stubborn")
    await asyncio.sleep(0)
    await asyncio.wait_for(task, 0)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.wait_for(sleeps(), 1000), name="with_timeout")
        group.create_task(asyncio.wait_for(asyncio.create_task(sleeps()), None), name="without_timeout")
        group.create_task(at_once(), name="at_once")
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
