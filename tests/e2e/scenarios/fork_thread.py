"""
A child, forked in a thread while a loop runs in another, dies. The child has no such thread, so nothing will ever run the
loop or its tasks, which CPython keeps in a list of the interpreter, as those of any thread that is gone.
"""

import asyncio
import os
import threading
import time

import oracle


async def sleeps():
    await asyncio.sleep(1000)


def fork(tasks, loop):
    time.sleep(0.3)  # until the loop sleeps
    if os.fork() == 0:
        oracle.loops[loop] = None
        oracle.finding("orphaned", tasks, [loop])
        oracle.stop()
    os.wait()
    os._exit(0)


async def main():
    tasks = asyncio.current_task(), asyncio.create_task(sleeps(), name="sleeps")
    await asyncio.sleep(0)
    threading.Thread(target=fork, args=(tasks, asyncio.get_running_loop()), name="forks").start()
    await asyncio.sleep(1000)


asyncio.run(main())
