"""The benchmark's target: COUNT tasks that sleep, four coroutine frames each, all awaited by one parent.

    tasks.py core|live COUNT [GAP]

"core" aborts when all tasks sleep; "live" prints "ready" and stays. With a GAP the tasks lie scattered in the heap: GAP bytes are
left out before a task and before its inner coroutines, and half of the tasks have ended and made room for others in random order.
That needs PYTHONMALLOC=malloc, since CPython's own allocator keeps small objects together.
"""

import asyncio
import os
import random
import sys

mode, count, gap = sys.argv[1], int(sys.argv[2]), int((sys.argv + ["0"])[3])

if gap:
    import ctypes

    malloc = ctypes.CDLL(None).malloc
    malloc.restype = ctypes.c_void_p


def leave_out():
    if gap:
        malloc(gap)  # never touched, so it costs neither memory nor, in the core, disk


async def query():
    await asyncio.sleep(86400)


async def fetch():
    await query()


async def handle():
    leave_out()
    await fetch()


def start():
    leave_out()
    return asyncio.create_task(handle())


async def replace_half(tasks):
    chosen = random.Random(0).sample(range(count), count // 2)
    for index in chosen:
        tasks[index].cancel()
    await asyncio.wait([tasks[index] for index in chosen])
    for index in chosen:
        tasks[index] = start()
    await asyncio.sleep(0)


async def main():
    tasks = [start() for _ in range(count)]
    await asyncio.sleep(0)
    if gap:
        await replace_half(tasks)
    everything = asyncio.gather(*tasks)
    asyncio.get_running_loop().call_later(0.5, os.abort if mode == "core" else lambda: print("ready", flush=True))
    await everything


asyncio.run(main())
