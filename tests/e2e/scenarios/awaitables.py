"""
Awaitables that are no coroutines: @types.coroutine, and __await__() returning a generator, a coroutine's wrapper or an
iterator of its own; anext(it, default).

asyncio's own answer stops at the first of them. The expectation goes on to the iterator of its own, of which only type
and address can be known.
"""

import asyncio
import types

import oracle


async def sleeps():
    await asyncio.sleep(1000)


@types.coroutine
def decorated():
    yield from sleeps()


@types.coroutine
def plain_yield():
    while True:
        yield


class ReturnsGenerator:
    def __await__(self):
        yield from sleeps().__await__()


class ReturnsWrapper:
    def __await__(self):
        return sleeps().__await__()


class Iterator:
    def __init__(self):
        self.future = asyncio.get_running_loop().create_future()
        self.future._asyncio_future_blocking = True

    def __next__(self):
        return self.future

    def __iter__(self):
        return self


class ReturnsIterator:
    def __await__(self):
        return Iterator()


class AsyncIterator:
    def __aiter__(self):
        return self

    async def __anext__(self):
        await sleeps()


async def waits(make):
    await make()


def anext_with_default():
    return anext(AsyncIterator(), None)


def anext_of_coroutine():
    return anext(AsyncIterator())


async def main():
    async with asyncio.TaskGroup() as group:
        for make in (
            decorated,
            plain_yield,
            ReturnsGenerator,
            ReturnsWrapper,
            ReturnsIterator,
            anext_with_default,
            anext_of_coroutine,
            asyncio.get_running_loop().create_future,
        ):
            group.create_task(waits(make), name=make.__name__)
        asyncio.get_running_loop().call_later(0.05, oracle.stop)


asyncio.run(main())
