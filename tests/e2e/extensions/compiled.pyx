# cython: language_level=3
"""
What a database driver compiled by Cython is like: coroutines and asynchronous generators without frames.
For scenarios/cython_coroutines.py.
"""


async def waits(awaitable):
    return await awaitable


async def calls(awaitable):
    return await waits(awaitable)


async def numbers(awaitable):
    await awaitable
    yield 1


async def iterates(awaitable):
    async for _ in numbers(awaitable):
        pass


def generator(awaitable):
    return (yield from awaitable)


cdef class Connection:
    cdef object future

    def __init__(self, future):
        self.future = future

    async def fetch(self):
        return await self.future


class Pool:
    def __init__(self, awaitable):
        self.awaitable = awaitable

    async def __aenter__(self):
        return await self.awaitable

    async def __aexit__(self, *args):
        pass
