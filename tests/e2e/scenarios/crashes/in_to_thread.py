"""A C extension writes nowhere in a thread of the default executor, for a task that waits for it."""

import asyncio
import sys
import time

from crash_oracle import crash, dies


def resize():
    time.sleep(0.2)  # the loop has come to rest
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


async def main():
    await asyncio.to_thread(resize)


asyncio.run(main())
