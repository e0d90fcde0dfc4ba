"""asyncio has been used and its loop is closed: no task is left."""

import asyncio

import oracle


async def main():
    oracle.register()
    await asyncio.sleep(0)


asyncio.run(main())
oracle.stop()
