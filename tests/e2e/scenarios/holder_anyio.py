"""
anyio's lock and limiter name who has them; its semaphore is held like asyncio's. Who was handed a semaphore and has not run
yet has it too: then it may not be said that nobody holds it.
"""

import asyncio

import anyio

import oracle

stated = []


def held(waiter, *holders, kind="lock", held=True, total=...):
    stated.append((waiter, kind, held, holders, len(holders) if total is ... else total))


async def has(lock):
    async with lock:
        await anyio.sleep(1000)


async def acquires(lock):
    await lock.acquire()
    await anyio.sleep(1000)


def write_down():
    tasks = {task.get_name(): task for task in asyncio.all_tasks()}
    for waiter, kind, is_held, holders, total in stated:
        oracle.expect(tasks[waiter], holders={
            "kind": kind,
            "held": is_held,
            "holders_total": total,
            "holders": [{"id": oracle.address(tasks[name]), "function": function, "how": how} for name, function, how in holders],
        })  # fmt: skip
    oracle.stop()


async def main():
    lock, by_hand, semaphore, limiter = anyio.Lock(), anyio.Lock(), anyio.Semaphore(1), anyio.CapacityLimiter(2)
    own = asyncio.Semaphore(0)
    async with anyio.create_task_group() as group:
        for name, function, argument in (
            ("lock", has, lock), ("lock-1", has, lock), ("by-hand", acquires, by_hand), ("by-hand-1", has, by_hand),
            ("semaphore", has, semaphore), ("semaphore-1", has, semaphore), ("limiter", has, limiter),
            ("limiter-1", acquires, limiter), ("limiter-2", has, limiter), ("handed", has, own), ("handed-1", has, own),
        ):  # fmt: skip
            group.start_soon(function, argument, name=name)
        held("lock-1", ("lock", "has", "async with"))
        held("by-hand-1", ("by-hand", "acquires", "owner"))
        held("semaphore-1", ("semaphore", "has", "async with"), kind="semaphore")
        held("limiter-2", ("limiter", "has", "async with"), ("limiter-1", "acquires", "owner"), kind="semaphore")
        held("handed-1", kind="semaphore", total=None)
        await anyio.sleep(0.1)
        own.release()  # the first waiter has it, and will find that out when it runs
        write_down()


anyio.run(main)
