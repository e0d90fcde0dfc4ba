"""
Threading locks: one that a suspended coroutine holds while the thread of its loop waits for it; two threads that each hold
what the other waits for. Near miss: a thread that waits for one that sleeps.
"""

import asyncio
import sys
import threading
import time

import oracle

lock, first, second, slow = [threading.Lock() for _ in range(4)]
barrier = threading.Barrier(2)


def wait_until_in(thread, function):
    """Wait until a thread has come to rest in a function."""
    while thread.ident not in (frames := sys._current_frames()) or frames[thread.ident].f_code.co_name != function:
        time.sleep(0.01)
    time.sleep(0.1)


async def has():
    with lock:
        await asyncio.sleep(1000)


async def takes():
    with lock:
        pass


async def main():
    oracle.register()
    task = asyncio.create_task(has(), name="has")
    oracle.finding("deadlock", [task], [lock])
    await asyncio.sleep(0)
    await takes()


def has_both(one, other):
    with one:
        barrier.wait()
        takes_other(other)


def takes_other(other):
    with other:
        pass


def sleeps():
    with slow:
        time.sleep(1000)


threads = {
    threading.Thread(target=asyncio.run, args=(main(),), name="loop", daemon=True): "takes",
    threading.Thread(target=sleeps, name="sleeps", daemon=True): "sleeps",
    threading.Thread(target=takes_other, args=(slow,), name="waits", daemon=True): "takes_other",
    threading.Thread(target=has_both, args=(first, second), name="AB", daemon=True): "wait",
    threading.Thread(target=has_both, args=(second, first), name="BA", daemon=True): "takes_other",
}
for thread, function in threads.items():
    thread.start()
    wait_until_in(thread, function)
oracle.finding("deadlock", [], [first, second])
oracle.stop()
