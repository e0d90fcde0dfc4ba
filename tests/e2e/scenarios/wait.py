"""wait(): two tasks and a plain future, one of the tasks already done; main waits for wait's own future."""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def ends():
    pass


async def main():
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(oracle.stop_when_idle)
    await asyncio.wait([asyncio.create_task(sleeps()), asyncio.create_task(ends()), future])


asyncio.run(main())
