"""A C extension writes nowhere in a thread of the default executor, for a task that waits for it."""

import asyncio
import sys

import crash
import crash_oracle


def resize():
    crash.segfault(*crash_oracle.dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def main():
    await asyncio.to_thread(resize)


asyncio.run(main())
