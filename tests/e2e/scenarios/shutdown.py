"""
The program has ended, its process does not: threading._shutdown() waits for two threads that are no daemons. No task is alive.
"""

import asyncio
import queue
import sys
import threading
import time

import oracle

items = queue.Queue()


async def uses_asyncio():
    oracle.register()
    await asyncio.sleep(0)


def consume():
    while True:
        items.get()


def innermost(thread):
    frame = sys._current_frames().get(thread.ident)
    return frame and frame.f_code.co_qualname


def stop_when_ended():
    while innermost(threading.main_thread()) != "_shutdown" or innermost(consumer) != "Condition.wait":
        time.sleep(0.01)
    time.sleep(0.2)
    for thread, kind, function, thing in (
        (threading.main_thread(), "shutdown", "_shutdown", None),
        (consumer, "queue", "Queue.get", oracle.address(items)),
        (daemon, "queue", "Queue.get", oracle.address(items)),
    ):
        oracle.blocked[thread.native_id] = {"in": kind, "function": function, "object": thing, "seconds": None}
    oracle.stop()


asyncio.run(uses_asyncio())
consumer = threading.Thread(target=consume, name="consumer")
consumer.start()
daemon = threading.Thread(target=consume, daemon=True)
daemon.start()
threading.Thread(target=stop_when_ended, name="stopper").start()
