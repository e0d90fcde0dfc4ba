"""Without the accelerator: a task runs, below it on the stack the one that started it eagerly, in another thread than main."""

import sys

sys.modules["_asyncio"] = None

import asyncio  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import oracle  # noqa: E402


async def inner():
    def deep():
        # The main thread is where it will stay.
        while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "join":
            time.sleep(0.01)
        time.sleep(0.1)
        oracle.stop()

    deep()


async def child():
    await inner()


async def main():
    oracle.keep.append(asyncio.Task(child(), loop=asyncio.get_running_loop(), name="eager", eager_start=True))


thread = threading.Thread(target=asyncio.run, args=(main(),))
thread.start()
thread.join()
