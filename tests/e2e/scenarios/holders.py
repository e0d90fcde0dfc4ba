"""
Who holds what others wait for: each lock is taken in one of the ways in which that is done, and the scenario says who has it,
in which function, and how. Near misses: those who are only entering, have given it back, or took it without a with statement.
"""

import asyncio
import contextlib

import oracle

tasks = {}
stated = []
deadlocks = []


def start(name, coroutine):
    tasks[name] = asyncio.create_task(coroutine, name=name)


def held(waiter, *holders, held=True, total=...):
    """State who holds what @p waiter waits for: (task, function, how)."""
    stated.append((waiter, holders, held, len(holders) if total is ... else total))


def write_down():
    for waiter, holders, is_held, total in stated:
        oracle.expect(tasks[waiter], holders={
            "held": is_held,
            "holders_total": total,
            "holders": [{"id": oracle.address(tasks[name]), "function": function, "how": how} for name, function, how in holders],
        })  # fmt: skip
    for names, locks in deadlocks:
        oracle.finding("deadlock", [tasks[name] for name in names], locks)
    oracle.stop()


async def sleeps():
    await asyncio.sleep(1000)


async def has(lock):
    async with lock:
        await sleeps()


async def acquires(lock):
    await lock.acquire()
    await sleeps()


async def in_body():
    lock = asyncio.Lock()
    start("body", has(lock))
    start("body-1", has(lock))
    start("body-2", acquires(lock))
    held("body-1", ("body", "has", "async with"))
    held("body-2", ("body", "has", "async with"))


async def nests(first, second, third):
    try:
        async with first as _, second:
            for n in range(3):
                try:
                    raise ValueError(n)
                except ValueError:
                    async with third:
                        await sleeps()
    finally:
        await asyncio.sleep(0)


async def nested():
    locks = [asyncio.Lock() for _ in range(3)]
    start("nested", nests(*locks))
    for n, lock in enumerate(locks):
        start(f"nested-{n}", has(lock))
        held(f"nested-{n}", ("nested", "nests", "async with"))


async def leaves_first(first, second):
    async with first:
        pass
    async with second:
        await sleeps()


async def has_left():
    """It was in the body of the first and is not any more: another one took it by hand."""
    first, second = asyncio.Lock(), asyncio.Lock()
    start("left", leaves_first(first, second))
    start("by-hand", acquires(first))
    start("left-1", has(first))
    start("left-2", has(second))
    held("left-1")
    held("left-2", ("left", "leaves_first", "async with"))


async def hands_on(lock):
    async with lock:
        lock.release()
        await sleeps()


async def two_in_body():
    """One gave it back within its body: which of the two has it is not to be seen."""
    lock = asyncio.Lock()
    start("hands-on", hands_on(lock))
    start("has-it", has(lock))
    start("two-waits", has(lock))
    held("two-waits", total=None)


@contextlib.asynccontextmanager
async def pooled(lock):
    async with lock:
        yield lock


@contextlib.contextmanager
def gives(value):
    with value:
        yield


async def borrows(lock):
    async with pooled(lock):
        await sleeps()


async def in_generator():
    lock = asyncio.Lock()
    start("generator", borrows(lock))
    start("generator-1", borrows(lock))
    held("generator-1", ("generator", "borrows", "async with"))


async def stacks(lock, other):
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(lock)
        await stack.enter_async_context(pooled(other))
        await sleeps()


async def in_exit_stack():
    lock, other = asyncio.Lock(), asyncio.Lock()
    start("stack", stacks(lock, other))
    start("stack-1", has(lock))
    start("stack-2", has(other))
    held("stack-1", ("stack", "stacks", "ExitStack"))
    held("stack-2", ("stack", "stacks", "ExitStack"))


async def crosses(mine, other):
    async with mine:
        await asyncio.sleep(0)
        async with other:
            pass


async def deadlock():
    a, b = asyncio.Lock(), asyncio.Lock()
    start("AB", crosses(a, b))
    start("BA", crosses(b, a))
    held("AB", ("BA", "crosses", "async with"))
    held("BA", ("AB", "crosses", "async with"))
    deadlocks.append((("AB", "BA"), (a, b)))


async def itself(lock):
    async with lock:
        async with lock:
            pass


async def self_deadlock():
    lock = asyncio.Lock()
    start("self", itself(lock))
    held("self", ("self", "itself", "async with"))
    deadlocks.append((("self",), (lock,)))


async def semaphores():
    semaphore = asyncio.Semaphore(2)
    for n in range(3):
        start(f"semaphore-{n}", has(semaphore))
    held("semaphore-2", ("semaphore-0", "has", "async with"), ("semaphore-1", "has", "async with"))
    start("signal", has(asyncio.Semaphore(0)))
    held("signal")


async def waits_for(condition):
    async with condition:
        await condition.wait()


async def conditions():
    condition = asyncio.Condition()
    start("condition-1", waits_for(condition))
    start("condition-2", waits_for(condition))
    await asyncio.sleep(0)
    start("condition", has(condition))
    start("condition-3", waits_for(condition))
    for n in range(1, 4):
        held(f"condition-{n}", ("condition", "has", "async with"))
    free = asyncio.Condition()
    start("free-condition", waits_for(free))
    held("free-condition", held=False)


class OwnManager:
    """Its exit method is no function of its class: it is bound already."""

    def __init__(self, lock):
        self.lock = lock

    __aenter__ = property(lambda self: self.lock.__aenter__)
    __aexit__ = property(lambda self: self.lock.__aexit__)


async def bound():
    lock = asyncio.Lock()
    start("bound", has(OwnManager(lock)))
    start("bound-1", has(lock))
    held("bound-1", ("bound", "has", "async with"))


async def streams(lock):
    async with lock:
        yield 1
        yield 2


async def iterates(lock):
    async for _ in streams(lock):
        await sleeps()


async def iterates_closing(lock):
    async with contextlib.aclosing(streams(lock)) as items:
        async for _ in items:
            break
        await sleeps()


async def has_iterated(lock):
    async for _ in streams(lock):
        pass
    await sleeps()


async def in_async_generator():
    lock, closing, left = asyncio.Lock(), asyncio.Lock(), asyncio.Lock()
    start("iterates", iterates(lock))
    start("closing", iterates_closing(closing))
    start("has-iterated", has_iterated(left))
    for _ in range(5):
        await asyncio.sleep(0)
    start("iterates-1", has(lock))
    start("closing-1", has(closing))
    held("iterates-1", ("iterates", "iterates", "async for"))
    held("closing-1", ("closing", "iterates_closing", "async with"))
    start("iterated-2", has(left))
    start("iterated-1", has(left))
    held("iterated-1", ("iterated-2", "has", "async with"))


async def main():
    for make in (
        in_async_generator, in_body, nested, has_left, two_in_body, in_generator, in_exit_stack, deadlock, self_deadlock,
        semaphores, conditions, bound,
    ):  # fmt: skip
        await make()
        for _ in range(5):
            await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(stop_when_idle)
    await sleeps()


def stop_when_idle():
    loop = asyncio.get_running_loop()
    if loop._ready:
        loop.call_soon(stop_when_idle)
    else:
        write_down()


asyncio.run(main())
