"""
Loops that sleep though something is ready to run: woken from another thread, and in a signal handler, without
call_soon_threadsafe(). Near misses: a loop that is busy while something is ready, one that waits for a timer.
"""

import asyncio
import os
import signal
import sys
import threading
import time

import oracle

tasks, futures, loops = {}, {}, {}
reader, writer = os.pipe()


async def awaits(name):
    await futures[name]


async def sleeps():
    await asyncio.sleep(1000)


async def idle(name):
    oracle.register()
    loops[name] = asyncio.get_running_loop()
    futures[name] = loops[name].create_future()
    tasks[name] = asyncio.create_task(awaits(name), name=name)
    await sleeps()


def block():
    os.read(reader, 1)


async def busy():
    oracle.register()
    asyncio.create_task(sleeps(), name="not started")
    asyncio.get_running_loop().call_soon(block)
    await sleeps()


def wait_until_in(thread, function):
    """Wait until a thread has come to rest in a function."""
    while thread.ident not in (frames := sys._current_frames()) or frames[thread.ident].f_code.co_name != function:
        time.sleep(0.01)
    time.sleep(0.1)


def handle_signal(number, frame):
    futures["signal"].set_result(None)


def run_others():
    threads = {
        threading.Thread(target=asyncio.run, args=(idle("thread"),), name="thread", daemon=True): "select",
        threading.Thread(target=asyncio.run, args=(idle("timer"),), name="timer", daemon=True): "select",
        threading.Thread(target=asyncio.run, args=(busy(),), name="busy", daemon=True): "block",
    }
    for thread, function in threads.items():
        thread.start()
        wait_until_in(thread, function)
    wait_until_in(threading.main_thread(), "select")
    os.kill(os.getpid(), signal.SIGUSR1)
    futures["thread"].set_result(None)
    while not futures["signal"].done():
        time.sleep(0.01)
    for name in ("thread", "signal"):
        oracle.finding("loop-asleep", [tasks[name]], [loops[name]])
    oracle.stop()


signal.signal(signal.SIGUSR1, handle_signal)
threading.Thread(target=run_others, name="others").start()
asyncio.run(idle("signal"))
