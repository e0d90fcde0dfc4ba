"""A process with a little of everything that the library reads; it ends in a core."""

import asyncio
import threading
import types

from greenlet import getcurrent, greenlet

import oracle


async def sleeper():
    await asyncio.sleep(1000)


async def numbers():
    while True:
        await asyncio.sleep(1000)
        yield 1


@types.coroutine
def generator_based():
    yield from sleeper().__await__()


class Awaitable:
    def __await__(self):
        return sleeper().__await__()


class Opaque:
    def __await__(self):
        return iter([None] * 1000)


class Holds:
    """A coroutine by its methods only."""

    __slots__ = ("coro", "response")

    def __init__(self):
        self.coro = sleeper()

    def send(self, value):
        return self.coro.send(value)

    def throw(self, *args):
        return self.coro.throw(*args)

    def close(self):
        return self.coro.close()

    def __await__(self):
        return self.coro.__await__()


class HoldsInDictionary(Holds):
    """The same with __dict__, and in the middle of a chain."""

    def __init__(self):
        self.more = sleeper

    def __await__(self):
        self.held = sleeper()
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return self.held.send(None)


async def over_async_generator():
    async for _ in numbers():
        pass


async def over_anext():
    await anext(numbers(), None)


async def over_aclose():
    async def closing():
        try:
            yield 1
        finally:
            await asyncio.sleep(1000)

    iterator = closing()
    await anext(iterator)
    await iterator.aclose()


async def over_generator():
    await generator_based()


async def over_awaitable():
    await Awaitable()


async def over_opaque():
    await Opaque()


async def over_holder():
    await HoldsInDictionary()


async def awaits(other):
    await other


async def in_group(children):
    async with asyncio.TaskGroup() as group:
        for _ in range(children):
            group.create_task(sleeper())


async def in_gather():
    await asyncio.gather(sleeper(), sleeper(), asyncio.shield(sleeper()))


async def in_wait(shared):
    await asyncio.wait([shared])


async def eager_child():
    oracle.stop()


async def eager_parent():
    asyncio.eager_task_factory(asyncio.get_running_loop(), eager_child(), name="eager")


def other_thread(ready):
    async def main():
        asyncio.create_task(sleeper(), name="in thread")
        ready.set()
        await asyncio.sleep(1000)

    asyncio.run(main())


def cycle():
    """Two tasks that wait for each other."""
    first = asyncio.create_task(awaits(asyncio.sleep(0)), name="first")
    second = asyncio.create_task(awaits(first), name="second")
    asyncio.future_add_to_awaited_by(second, first)
    return first, second


def exited_thread():
    """A thread that ends with a task left over."""

    async def leave():
        loop.stop()
        await asyncio.sleep(1000)

    greenlets()
    loop = asyncio.new_event_loop()
    loop.create_task(leave(), name="remnant")
    loop.run_forever()
    kept.append(loop)


@types.coroutine
def portal(coroutine):
    """A coroutine that runs in a greenlet, as greenback has it."""
    child = greenlet(drive)
    yielded = child.switch(coroutine)
    while True:
        value = yield yielded
        yielded = child.switch(value)


def drive(coroutine):
    value = None
    while True:
        yielded = coroutine.send(value)
        value = getcurrent().parent.switch(yielded)


async def bridge():
    """A coroutine that awaits what a greenlet hands to it, as SQLAlchemy has it."""
    context = greenlet(hand_over)
    result = context.switch()
    await result


def hand_over():
    awaitable = sleeper()
    getcurrent().parent.switch(awaitable)


async def over_portal():
    await portal(sleeper())


def wait_in_greenlet(depth):
    if depth:
        list(map(wait_in_greenlet, [depth - 1]))
    getcurrent().parent.switch()


def greenlets():
    for depth in range(3):
        suspended = greenlet(wait_in_greenlet)
        suspended.switch(depth)
        kept.append(suspended)
    ended = greenlet(lambda: None)
    ended.switch()
    kept.extend((ended, greenlet(wait_in_greenlet)))


async def main():
    names = ["caf\xe9", "\u4e2d\u6587", "\U0001f40d", "lone \ud800", "new\nline", "token=abc", "middle"]
    names += ["object", "portal", "bridge"]
    coroutines = [over_async_generator, over_anext, over_aclose, over_generator, over_awaitable, over_opaque, over_holder, Holds]
    coroutines += [over_portal, bridge]
    shared = asyncio.create_task(sleeper(), name="shared")
    kept.extend(asyncio.create_task(coroutine(), name=name) for coroutine, name in zip(coroutines, names, strict=True))
    waiters = [asyncio.create_task(awaits(shared)) for _ in range(5)]
    kept.extend([shared, waiters])
    kept.extend(asyncio.create_task(coroutine) for coroutine in (in_group(3), in_gather(), in_wait(shared)))
    await asyncio.sleep(0.05)
    waiters[1].cancel()
    waiters[3].cancel()
    await asyncio.sleep(0.05)
    kept.append(cycle())
    kept.append(asyncio.create_task(sleeper(), name="created"))
    await eager_parent()


kept = []
started = threading.Event()
threading.Thread(target=other_thread, args=(started,), daemon=True, name="loop").start()
started.wait()
exited = threading.Thread(target=exited_thread)
exited.start()
exited.join()
greenlets()
asyncio.run(main())
