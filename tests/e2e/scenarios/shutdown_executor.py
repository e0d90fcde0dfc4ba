"""
The program has ended, its process does not: concurrent.futures waits for what was submitted to an executor. No task is alive.
"""

import asyncio
import concurrent.futures
import sys
import threading
import time

import oracle


async def uses_asyncio():
    oracle.register()
    await asyncio.sleep(0)


def hangs(event):
    event.wait()


def innermost(thread):
    frame = sys._current_frames().get(thread.ident)
    return frame and frame.f_code.co_qualname


def stop_when_ended(event):
    worker = next(thread for thread in threading.enumerate() if thread.name == "pool_0")
    while innermost(threading.main_thread()) != "Thread.join" or innermost(worker) != "Condition.wait":
        time.sleep(0.01)
    time.sleep(0.2)
    for thread, kind, function, thing in (
        (threading.main_thread(), "thread", "Thread.join", worker),
        (worker, "event", "Event.wait", event),
    ):
        oracle.blocked[thread.native_id] = {"in": kind, "function": function, "object": oracle.address(thing), "seconds": None}
    oracle.stop()


asyncio.run(uses_asyncio())
never = threading.Event()
concurrent.futures.ThreadPoolExecutor(1, "pool").submit(hangs, never)
threading.Thread(target=stop_when_ended, args=(never,), name="stopper", daemon=True).start()
