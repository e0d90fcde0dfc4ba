"""asyncio.timeout(): a context manager, which adds neither a task nor a frame; two of them nested."""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    asyncio.get_running_loop().call_soon(oracle.stop_when_idle)
    async with asyncio.timeout(1000), asyncio.timeout(2000):
        await asyncio.create_task(sleeps())


asyncio.run(main())
