"""
A child, forked inside a task of a running loop, dies; the parent waits for it.

asyncio clears the running loop and the lists of tasks in the child, so there no task is current or listed, yet the
forking task's coroutine is on the stack. A loop that no thread runs and no task belongs to cannot be found from
outside.
"""

import asyncio
import os

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    task = asyncio.create_task(sleeps(), name="sleeps")
    oracle.register()
    await asyncio.sleep(0)
    if os.fork() == 0:
        assert not asyncio.all_tasks(*oracle.loops)
        oracle.loops.clear()
        oracle.stop()
    os.wait()
    os._exit(0)
    await task


asyncio.run(main())
