"""C code recurses until the stack is used up, below Python code that calls itself through C, in a task."""

import asyncio
import sys

from crash_oracle import crash, dies


def descend(levels):
    if levels > 0:
        crash.call(descend, levels - 1)
    else:
        called_by = {"descend": ["call"]}
        crash.overflow(*dies(sys._getframe(), "SIGSEGV", inside=["recurse_for_ever"], called_by=called_by))


async def order():
    crash.call(descend, 30)


async def main():
    await asyncio.create_task(order(), name="order")


asyncio.run(main())
