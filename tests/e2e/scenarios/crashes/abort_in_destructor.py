"""A destructor in C calls abort() when the frame of a coroutine goes that is being cancelled."""

import asyncio
import sys

from crash_oracle import crash, dies


async def holds():
    bomb = crash.Bomb(0)
    try:
        await asyncio.sleep(1000)
    finally:
        bomb = dies(sys._getframe(), "SIGABRT", inside=["abort", "bomb_dealloc"])


async def main():
    task = asyncio.create_task(holds(), name="holds")
    await asyncio.sleep(0)
    task.cancel()
    await task


asyncio.run(main())
