"""
Tasks that nothing but what they wait for refers to, since nobody has kept what create_task() returned; queues that only
those have who wait on them, since the other side has failed. Near misses: a timer, or anybody at all, refers to them.
"""

import asyncio
import gc
import os
import sys

import oracle

kept = []
ids = {}


class Service:
    """Owns a queue."""

    def __init__(self):
        self.queue = asyncio.Queue()

    async def work(self):
        while True:
            await self.queue.get()


async def awaits_own():
    await asyncio.get_running_loop().create_future()


async def waits_for_event():
    event = asyncio.Event()
    await event.wait()


async def awaits(task):
    await task


async def awaits_child():
    await asyncio.create_task(awaits_own(), name="lost child")


async def sleeps():
    await asyncio.sleep(1000)


async def awaits_shared(shared):
    shared.append(asyncio.get_running_loop().create_future())
    await shared[-1]


async def with_timeout():
    async with asyncio.timeout(500):
        await asyncio.get_running_loop().create_future()


async def gets(queue):
    await queue.get()


async def gets_later(queue):
    await sleeps()
    await queue.get()


async def puts(queue):
    while True:
        await queue.put(1)


async def fails(queue):
    await queue.get()
    raise ValueError("the consumer has failed")


async def has_queue(size, *sides, timeout=None):
    """A queue that nobody else has; the sides wait in tasks of their own."""
    queue = asyncio.Queue(size)
    tasks = [asyncio.create_task(side(queue), name=f"{side.__name__}-{size}-{timeout}") for side in sides]
    ids[size, timeout, sides] = tasks, id(queue)
    async with asyncio.timeout(timeout) if timeout else asyncio.Lock():
        await asyncio.gather(*tasks, return_exceptions=True)


async def feeds():
    """It waits for something else, in the body of the group of those who get, and may put then."""
    queue = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(gets(queue), name="fed")
        kept.append(asyncio.get_running_loop().create_future())
        await queue.put(await kept[-1])


async def waits_for_either():
    """One of the two may end."""
    queue = asyncio.Queue()
    both = {asyncio.create_task(gets(queue), name="either"), asyncio.create_task(sleeps(), name="or")}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    await queue.put(1)


async def serves(keep):
    service = Service()
    if keep:
        kept.append(service)
    tasks = [asyncio.create_task(service.work(), name=f"work-{keep}-{n}") for n in range(2)]
    ids[keep] = tasks, id(service.queue)
    del service
    await asyncio.wait(tasks)


def start(coroutine, name):
    """Make a task of which only the loop knows."""
    asyncio.create_task(coroutine, name=name)


async def main():
    for coroutine, name in (
        (awaits_own(), "lost own"), (waits_for_event(), "lost event"), (awaits_child(), "lost parent"),
        (sleeps(), "timer"), (awaits_shared(kept), "shared"), (with_timeout(), "timeout"),
    ):  # fmt: skip
        start(coroutine, name)
    for number, coroutine in enumerate((
        has_queue(1, puts, puts, fails), has_queue(2, gets, gets), has_queue(3, gets, gets, timeout=600),
        has_queue(4, puts, gets_later),
        serves(True), serves(False), feeds(), waits_for_either(),
    )):  # fmt: skip
        kept.append(asyncio.create_task(coroutine, name=f"main-{number}"))
    queue = asyncio.Queue()
    kept.append(asyncio.create_task(gets(queue), name="gets of main's"))

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        lost = [task for task in asyncio.all_tasks() if task.get_name().startswith("lost")]
        state()
        oracle.finding("unreachable", lost)
        del lost
        stop()

    loop = asyncio.get_running_loop()
    loop.call_soon(finish)
    await loop.create_future()
    queue.put_nowait(1)


def stop():
    """As oracle.stop(), without the references that it leaves in cycles. What is lost must not be collected before."""
    oracle.register()
    gc.freeze()
    oracle.frozen += [task for tasks, _ in ids.values() for task in tasks if task.done()]
    end, arguments = (os.abort, ()) if oracle.MODE == "core" else (os.read, (0, 1))
    end(*collect(oracle.write(sys._getframe(), arguments)))
    os._exit(0)


def collect(result):
    gc.collect()
    return result


def state():
    """Which queues nobody else has, by address: a name would be a reference."""
    for key in ((1, None, (puts, puts, fails)), (2, None, (gets, gets)), False):
        tasks, queue = ids[key]
        waiting = [oracle.address(task) for task in tasks if not task.done()]
        oracle.findings.append({"kind": "queue-stalled", "tasks": waiting, "objects": [f"{queue:#x}"]})


asyncio.run(main())
