"""Tasks whose coroutines have not started, one of them already cancelled, beside the running task that made them."""

import asyncio

import oracle


async def never():
    await asyncio.sleep(1000)


async def main():
    tasks = [asyncio.create_task(never(), name=f"created {n}") for n in range(3)]
    tasks[2].cancel()
    oracle.stop()


asyncio.run(main())
