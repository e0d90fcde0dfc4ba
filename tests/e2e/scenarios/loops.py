"""
Loops in every state: in epoll with timers and without, in a callback of Python and one of C, in a task, never run, stopped, closed.
"""

import asyncio
import functools
import os
import signal
import sys
import threading
import time

import oracle

reader, writer = os.pipe()


def block(number):
    os.read(reader, number)


def tick():
    """A callback that is never called."""


async def sleeps():
    await asyncio.sleep(1000)


async def waits_with_timers():
    """The timer that is due first was cancelled, as a timeout is that was not needed; so was one of the others."""
    oracle.register()
    loop = asyncio.get_running_loop()
    loop.call_later(500, tick).cancel()
    loop.call_later(700, tick)
    loop.call_later(2000, tick)
    loop.call_later(3000, tick).cancel()
    await asyncio.create_task(sleeps(), name="sleeps")


async def waits_without_timer():
    oracle.register()
    await asyncio.get_running_loop().create_future()


async def calls(callback, *arguments):
    """While it is called another one is ready, and the timer that would be due first has been cancelled."""
    oracle.register()
    loop = asyncio.get_running_loop()
    first = loop.call_later(100, tick)
    loop.call_later(200, tick)
    loop.call_later(300, tick)
    loop.call_soon(first.cancel)
    loop.call_soon(callback, *arguments)
    loop.call_soon(tick)
    await loop.create_future()


async def runs_task():
    oracle.register()
    block(1)


class OwnClock(asyncio.SelectorEventLoop):
    """What its time() has to do with the host's clock is its own affair."""

    def time(self):
        return super().time() + 5000


def run_with_own_clock():
    with asyncio.Runner(loop_factory=OwnClock) as runner:
        runner.run(waits_with_timers())


def wait_until_in(thread, file):
    """Wait until a thread has come to rest in a file, or in C code that a handle calls."""
    while thread.ident not in (frames := sys._current_frames()) or not frames[thread.ident].f_code.co_filename.endswith(file):
        time.sleep(0.01)
    time.sleep(0.1)


def keep_loop(close):
    """A loop that ran in this thread and left a pending task."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(sleeps(), name="left closed" if close else "left stopped")
    loop.run_until_complete(asyncio.sleep(0))
    if close:
        loop.close()
        oracle.finding("orphaned", [task], [loop])
    oracle.loops[loop] = threading.get_native_id()
    oracle.keep += [task]


def finish():
    oracle.stop()


async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, tick)
    loop.add_signal_handler(signal.SIGUSR1, tick)
    loop.call_later(4000, tick)
    loop.call_soon(functools.partial(finish))
    loop.call_soon(tick)
    await loop.create_future()


keep_loop(close=False)
keep_loop(close=True)
threads = {
    threading.Thread(target=asyncio.run, args=(waits_with_timers(),), name="timers", daemon=True): "selectors.py",
    threading.Thread(target=asyncio.run, args=(waits_without_timer(),), name="no timer", daemon=True): "selectors.py",
    threading.Thread(target=run_with_own_clock, name="own clock", daemon=True): "selectors.py",
    threading.Thread(target=asyncio.run, args=(calls(block, 1),), name="calls", daemon=True): "loops.py",
    threading.Thread(target=asyncio.run, args=(calls(os.read, reader, 1),), name="calls C", daemon=True): "events.py",
    threading.Thread(target=asyncio.run, args=(runs_task(),), name="task", daemon=True): "loops.py",
}
for thread, file in threads.items():
    thread.start()
    wait_until_in(thread, file)
asyncio.run(main())
