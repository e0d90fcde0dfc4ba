"""
The process dies in a callback of the loop, so no task runs: one waits, one's future is done, one yielded, one is being
cancelled.
"""

import asyncio

import oracle


async def waits(future):
    await future


async def yields():
    while True:
        await asyncio.sleep(0)


async def main():
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    tasks = [
        asyncio.create_task(waits(loop.create_future()), name="waiting"),
        asyncio.create_task(waits(done), name="done"),
        asyncio.create_task(yields(), name="yields"),
        asyncio.create_task(waits(loop.create_future()), name="cancelled"),
        asyncio.create_task(yields(), name="cancelled twice"),
    ]
    await asyncio.sleep(0)
    loop.call_soon(end, done, tasks)
    await loop.create_future()


def end(done, tasks):
    done.set_result(None)
    tasks[3].cancel()
    tasks[4].cancel()
    tasks[4].cancel()
    oracle.stop()


asyncio.run(main())
