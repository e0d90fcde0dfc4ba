"""70,000 sleeping tasks: more than the 65,536 at which CPython's own reader gives up."""

import asyncio

import oracle

TASKS = 70_000


async def sleeps(future):
    await future


async def main():
    future = asyncio.get_running_loop().create_future()
    tasks = [asyncio.create_task(sleeps(future)) for _ in range(TASKS)]
    oracle.keep.append(tasks)
    oracle.finding("runaway", [], [future])
    await oracle.stop_after_this()


asyncio.run(main())
