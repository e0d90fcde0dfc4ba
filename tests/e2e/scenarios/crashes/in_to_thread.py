"""A C extension writes nowhere in a thread of the default executor, for a task that waits for it."""

import asyncio
import sys

from crash_oracle import crash, dies


def resize():
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def main():
    await asyncio.to_thread(resize)


asyncio.run(main())
