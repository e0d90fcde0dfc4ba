"""A C extension writes nowhere, called from a callback of the loop, while tasks wait."""

import asyncio
import sys

import crash
import crash_oracle


def on_timer():
    crash.segfault(*crash_oracle.dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def main():
    asyncio.get_running_loop().call_later(0.01, on_timer)
    await asyncio.sleep(1000)


asyncio.run(main())
