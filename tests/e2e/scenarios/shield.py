"""shield(): main waits for the shield's outer future, the inner task is awaited by main. A second shield's waiter was cancelled."""

import asyncio

import oracle


async def inner():
    await asyncio.sleep(1000)


async def waiter(task):
    await asyncio.shield(task)


async def main():
    task = asyncio.create_task(inner(), name="inner")
    cancelled = asyncio.create_task(waiter(task))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    cancelled.cancel()
    asyncio.get_running_loop().call_soon(oracle.stop_when_idle)
    await asyncio.shield(task)


asyncio.run(main())
