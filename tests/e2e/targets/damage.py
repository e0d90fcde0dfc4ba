"""Tasks of many forms in two threads, each with a name of its own: what test_damage.py damages. Dies by abort() in a callback."""

import asyncio
import os
import sys
import threading

assert sys.argv[1:] == ["core"]
READY = threading.Barrier(2)


async def leaf(event):
    await event.wait()


async def middle(event, depth):
    if depth == 0:
        await leaf(event)
    else:
        await middle(event, depth - 1)


async def numbers(event):
    await event.wait()
    yield 1


async def generates(event):
    async for _ in numbers(event):
        pass


async def waits(task):
    await task


async def gathers(tasks):
    await asyncio.gather(*tasks)


async def fill(name, keep):
    event = asyncio.Event()

    def start(coroutine, kind):
        keep.append(asyncio.create_task(coroutine, name=f"{name} {kind} {len(keep)}"))
        return keep[-1]

    for number in range(12):
        start(middle(event, number % 4), "middle")
        start(generates(event), "generates")
    for number in range(4):
        waited = start(leaf(event), "leaf")
        for _ in range(number + 1):  # more than one waiter is a set
            start(waits(waited), "waits")
    start(gathers([start(leaf(event), "gathered") for _ in range(3)]), "gathers")
    await asyncio.sleep(0.1)
    READY.wait()
    if name == "main":
        asyncio.get_running_loop().call_later(0.2, os.abort)
    await event.wait()


threading.Thread(target=lambda: asyncio.run(fill("other", [])), daemon=True).start()
asyncio.run(fill("main", []))
