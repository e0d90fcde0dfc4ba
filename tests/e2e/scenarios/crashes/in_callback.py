"""A C extension writes nowhere, called from a callback of the loop, while tasks wait."""

import asyncio
import sys

from crash_oracle import crash, dies


def on_timer():
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def main():
    asyncio.get_running_loop().call_later(0.01, on_timer)
    await asyncio.sleep(1000)


asyncio.run(main())
