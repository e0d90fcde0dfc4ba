"""
Executors whose threads are all busy while calls wait for one: the default one of a loop, and anyio's limiter of worker
threads. Near misses: an executor that is full with nothing queued, one with an idle thread, a limiter that is no executor's.
"""

import asyncio
import concurrent.futures
import threading

import anyio
import anyio.to_thread

import oracle

stop = threading.Event()
tasks = {}


def start(name, coroutine):
    tasks[name] = asyncio.create_task(coroutine, name=name)


async def in_thread(function, *arguments):
    await asyncio.to_thread(function, *arguments)


async def in_worker(limiter):
    await anyio.to_thread.run_sync(stop.wait, limiter=limiter)


async def takes(limiter):
    async with limiter:
        await asyncio.sleep(1000)


async def other_loop(workers, calls):
    """A loop in a thread of its own with so many workers, each of which has had something to do."""
    oracle.register()
    loop = asyncio.get_running_loop()
    executor = concurrent.futures.ThreadPoolExecutor(workers)
    loop.set_default_executor(executor)
    barrier = threading.Barrier(workers)
    await asyncio.gather(*(loop.run_in_executor(None, barrier.wait) for _ in range(workers)))
    for number in range(calls):
        asyncio.create_task(in_thread(stop.wait), name=f"{workers}-{number}")
    ready.release()
    await asyncio.sleep(1000)


async def main():
    loop = asyncio.get_running_loop()
    executor = concurrent.futures.ThreadPoolExecutor(2)
    loop.set_default_executor(executor)
    for number in range(5):
        start(f"call-{number}", in_thread(stop.wait))
    full, free, other = anyio.CapacityLimiter(1), anyio.CapacityLimiter(3), anyio.CapacityLimiter(1)
    for number in range(3):
        start(f"worker-{number}", in_worker(full))
        await asyncio.sleep(0.1)
    start("free", in_worker(free))
    start("has other", takes(other))
    start("waits for other", takes(other))
    await asyncio.sleep(0.5)

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        oracle.finding("executor-full", [tasks[f"call-{number}"] for number in range(2, 5)], [executor])
        oracle.finding("executor-full", [tasks["worker-1"], tasks["worker-2"]], [full])
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


ready = threading.Semaphore(0)
for workers, calls in ((1, 1), (3, 2)):
    threading.Thread(target=asyncio.run, args=(other_loop(workers, calls),), daemon=True).start()
    ready.acquire()
asyncio.run(main())
