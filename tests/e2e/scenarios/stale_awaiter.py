"""
Tasks that have ended, and one future that is done, left in awaited-by links: alone, in a set beside a real waiter, and
with nobody else.

asyncio shows them as waiters, with an empty stack. They cannot wait for anything.
"""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def waits(task):
    await task


async def ends():
    pass


async def fails():
    raise ValueError


async def main():
    done, failed, cancelled = ended = [asyncio.create_task(ends()), asyncio.create_task(fails()), asyncio.create_task(sleeps())]
    cancelled.cancel()
    await asyncio.gather(*ended, return_exceptions=True)
    future = asyncio.get_running_loop().create_future()
    future.set_result(None)

    single = asyncio.create_task(sleeps(), name="single")
    asyncio.future_add_to_awaited_by(single, done)
    mixed = asyncio.create_task(sleeps(), name="mixed")
    for waiter in (failed, cancelled, future):
        asyncio.future_add_to_awaited_by(mixed, waiter)
    asyncio.create_task(waits(mixed), name="real")
    oracle.keep.append(ended)
    await oracle.stop_after_this()


asyncio.run(main())
