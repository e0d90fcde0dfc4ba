"""A child, forked inside a task, writes nowhere in a C extension; the parent waits for it."""

import asyncio
import os
import sys

from crash_oracle import crash, dies


async def main():
    if os.fork() == 0:
        crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))
    os.wait()
    os._exit(0)


asyncio.run(main())
