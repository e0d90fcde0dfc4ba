"""
Four threads: the main thread dies outside any loop; one loop sleeps in select(), one runs a task that blocks, one
thread has no loop.
"""

import asyncio
import os
import sys
import threading
import time

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def idle():
    oracle.register()
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), name="worker sleeps")


def block():
    os.read(reader, 1)


async def blocks():
    oracle.register()
    task = asyncio.create_task(sleeps(), name="never started")
    block()
    await task


def wait_until_in(thread, function):
    """Wait until a thread has come to rest in a function."""
    while thread.ident not in (frames := sys._current_frames()) or frames[thread.ident].f_code.co_name != function:
        time.sleep(0.01)


reader, writer = os.pipe()
threads = {
    threading.Thread(target=asyncio.run, args=(idle(),), name="idle", daemon=True): "select",
    threading.Thread(target=asyncio.run, args=(blocks(),), name="blocks", daemon=True): "block",
    threading.Thread(target=block, name="no loop", daemon=True): "block",
}
for thread, function in threads.items():
    thread.start()
    wait_until_in(thread, function)
oracle.stop()
