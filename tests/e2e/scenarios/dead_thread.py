"""
Tasks of a thread that has ended: CPython keeps them in a list of the interpreter. The loop and its tasks are still
referenced.
"""

import asyncio
import threading

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def waits(task):
    await task


def abandon():
    """Run a loop for a moment, then let the thread end without closing it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(sleeps(), name="abandoned")
    waiter = loop.create_task(waits(task), name="abandoned waiter")
    loop.call_later(0.01, loop.stop)
    loop.run_forever()
    oracle.keep += [task, waiter]
    oracle.loops[loop] = None
    oracle.finding("orphaned", [task, waiter], [loop])


async def main():
    await oracle.stop_after_this()


thread = threading.Thread(target=abandon)
thread.start()
thread.join()
asyncio.run(main())
