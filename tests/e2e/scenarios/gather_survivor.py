"""gather() after one child failed: main has moved on, and the child that still runs is awaited by nobody."""

import asyncio

import oracle


async def fails():
    await asyncio.sleep(0)
    raise ValueError


async def survives():
    await asyncio.sleep(1000)


async def main():
    try:
        await asyncio.gather(fails(), survives())
    except ValueError:
        await oracle.stop_after_this()


asyncio.run(main())
