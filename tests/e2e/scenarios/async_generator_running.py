"""The process dies in a coroutine that an asynchronous generator awaits, below an async for of the running task."""

import asyncio

import oracle


async def nested_call():
    oracle.stop()


async def generator():
    for item in range(2):
        yield item
        if item:
            await nested_call()


async def main():
    async for _ in generator():
        await asyncio.sleep(0)


asyncio.run(main())
