"""A C extension writes nowhere, called from a coroutine of a task that others wait for."""

import asyncio
import sys

from crash_oracle import crash, dies


async def refund():
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def order():
    await refund()


async def shop():
    await asyncio.create_task(order(), name="order")


async def main():
    await asyncio.create_task(shop(), name="shop")


asyncio.run(main())
