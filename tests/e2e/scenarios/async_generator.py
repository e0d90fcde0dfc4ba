"""
Tasks suspended inside asynchronous generators: by async for, anext(), anext() with a default, asend(), athrow(),
aclose(), and nested.

asyncio's own answer stops at the coroutine above the generator. The expectation goes on through the wrapper's generator.
"""

import asyncio
import contextlib

import oracle


async def sleeps():
    await asyncio.sleep(1000)


async def generator():
    try:
        await sleeps()
        yield 1
    finally:
        await sleeps()


async def outer():
    async for item in generator():
        yield item


async def stubborn():
    try:
        yield 1
    except (ValueError, GeneratorExit):
        await sleeps()


async def by_async_for():
    async for _ in generator():
        pass


async def by_anext():
    await anext(generator())


async def by_anext_with_default():
    await anext(generator(), None)


async def by_asend():
    await generator().asend(None)


async def by_athrow():
    iterator = stubborn()
    await anext(iterator)
    await iterator.athrow(ValueError)


async def by_aclose():
    iterator = stubborn()
    await anext(iterator)
    await iterator.aclose()


async def by_aclosing():
    async with contextlib.aclosing(stubborn()) as iterator:
        await anext(iterator)


async def by_comprehension():
    return [item async for item in outer()]


async def nested():
    async for _ in outer():
        pass


async def main():
    async with asyncio.TaskGroup() as group:
        for function in (
            by_async_for, by_anext, by_anext_with_default, by_asend, by_athrow, by_aclose, by_aclosing, by_comprehension, nested,
        ):  # fmt: skip
            group.create_task(function(), name=function.__name__)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
