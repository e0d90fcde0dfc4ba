"""
A C extension writes nowhere in a greenlet that a coroutine of a task has started, as SQLAlchemy does it.

The greenlet was started from deeper in the thread's C stack than where the task stands when it dies: what is on the
stack beyond the greenlet's own part is not its caller's.
"""

import asyncio
import sys

import greenlet
from crash_oracle import crash, dies, inner_to_outer


def query():
    greenlet.getcurrent().parent.switch()
    outer = list(inner_to_outer(greenlet.getcurrent().parent.gr_frame))
    here = sys._getframe()
    crash.segfault(*dies(here, "SIGSEGV", inside=["write_nowhere", "segfault"], more=outer))


def starts(worker, levels):
    if levels > 0:
        crash.call(starts, worker, levels - 1)
    else:
        worker.switch()


async def session():
    worker = greenlet.greenlet(query)
    starts(worker, 5)
    await asyncio.sleep(0)
    worker.switch()


async def main():
    await asyncio.create_task(session(), name="session")


asyncio.run(main())
