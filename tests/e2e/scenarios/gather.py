"""gather(): one child is running when the process dies, the other sleeps; main waits for both through gather's own future."""

import asyncio

import oracle


async def deep():
    await asyncio.sleep(0)
    oracle.stop()


async def c1():
    await asyncio.sleep(0)
    await deep()


async def c2():
    await asyncio.sleep(1000)


async def main():
    await asyncio.gather(c1(), c2())


asyncio.run(main())
