"""
Tasks whose coroutine is an object of a class that is no coroutine, as HTTP and database clients make them, and such an
object in the middle of a chain.

asyncio's own answer stops at the object. The expectation goes on through the only coroutine that the object holds, in a
slot or in its dictionary; where there are two, or the one that there is waits for something else than the task, it ends
at the object.
"""

import asyncio
import collections.abc
import types

import oracle

oracle.lengths = True


async def sleeps():
    await asyncio.sleep(1000)


@types.coroutine
def generator():
    yield from sleeps()


async def runs():
    await asyncio.sleep(0.05)
    oracle.keep.append(asyncio.create_task(Slots(sleeps()), name="created"))
    oracle.stop()


class Forwards(collections.abc.Coroutine):
    """A coroutine by its methods only."""

    __slots__ = ()

    def send(self, value):
        return self._coro.send(value)

    def throw(self, *args):
        return self._coro.throw(*args)

    def close(self):
        return self._coro.close()

    def __await__(self):
        return self._coro.__await__()


class Slots(Forwards):
    __slots__ = ("_coro", "_response")

    def __init__(self, coro):
        self._coro = coro


class Attributes(Forwards):
    def __init__(self, coro):
        self.url = "http://localhost/"
        self._coro = coro


class SlotsAndAttributes(Slots):
    def __init__(self, coro):
        super().__init__(coro)
        self.again = coro  # the same once more


class Iterates:
    """Its own iterator, in the middle of a chain."""

    __slots__ = ("_coro",)

    def __init__(self, coro):
        self._coro = coro

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return self._coro.send(None)


class Nested(Slots):
    """The coroutine that it holds awaits another such object."""

    def __init__(self, coro):
        super().__init__(awaits(Iterates(coro)))


class TwoHeld(Slots):
    def __init__(self, coro):
        super().__init__(coro)
        self._response = sleeps()


class Decoy(Slots):
    """It holds a coroutine that another task runs, and waits for a future of its own."""

    __slots__ = ("made", "held")

    def __init__(self, held):
        self.held = held

    def send(self, value):
        future = asyncio.get_running_loop().create_future()
        future._asyncio_future_blocking = True
        return future


async def awaits(thing):
    await thing


async def ended():
    pass


async def main():
    loop = asyncio.get_running_loop()
    with_ended = Slots(sleeps())
    with_ended._response = ended()
    await with_ended._response
    materialized = Attributes(sleeps())
    materialized.__dict__["later"] = 1
    many = Attributes(sleeps())
    many.__dict__.update((f"attribute{n}", n) for n in range(100))
    dictionary = Attributes(sleeps())
    dictionary.__dict__ = {1: 2, "_coro": dictionary._coro}
    shared = sleeps()
    tasks = {
        "slots": Slots(sleeps()),
        "attributes": Attributes(sleeps()),
        "slots_and_attributes": SlotsAndAttributes(sleeps()),
        "with_ended": with_ended,
        "materialized": materialized,
        "many": many,
        "dictionary": dictionary,
        "middle": awaits(Iterates(sleeps())),
        "awaited": awaits(Slots(sleeps())),
        "nested": Nested(sleeps()),
        "generator": Slots(generator()),
        "running": Slots(runs()),
        "shared": shared,
    }
    oracle.keep += [loop.create_task(coro, name=name) for name, coro in tasks.items()]
    for name, thing in {"two_held": TwoHeld(sleeps()), "decoy": Decoy(shared)}.items():
        task = loop.create_task(thing, name=name)
        awaitable = {"function": type(thing).__name__, "file": None, "line": None, "kind": "awaitable"}
        oracle.expect(task, stack=[awaitable], objects=[oracle.address(thing)], derived_stack=False, activity="waiting")
        oracle.keep.append(task)
    await loop.create_future()


asyncio.run(main())
