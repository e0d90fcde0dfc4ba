"""A C extension writes nowhere in a function that sorted() calls, in a function that an extension calls, in a task."""

import asyncio
import sys

from crash_oracle import crash, dies


def key(item):
    called_by = {"key": ["list_sort_impl"], "rank": ["call"]}
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"], called_by=called_by))


def rank():
    return sorted([3, 1, 2], key=key)


async def order():
    crash.call(rank)


async def main():
    await asyncio.create_task(order(), name="order")


asyncio.run(main())
