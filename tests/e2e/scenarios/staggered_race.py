"""staggered_race(), which create_connection() uses: the first runner dies while the second waits."""

import asyncio
from asyncio.staggered import staggered_race

import oracle


async def c1():
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    oracle.stop()


async def c2():
    await asyncio.sleep(1000)


async def main():
    await staggered_race([c1, c2], delay=0.001)


asyncio.run(main())
