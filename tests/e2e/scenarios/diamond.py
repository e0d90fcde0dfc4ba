"""
Diamonds: six levels of two tasks, each awaiting both tasks of the level below. There are 12 tasks but 64 ways from top
to bottom.
"""

import asyncio

import oracle

LEVELS = 6


async def bottom():
    await asyncio.sleep(1000)


async def level(below):
    await asyncio.gather(*below)


async def main():
    tasks = [asyncio.create_task(bottom(), name=f"0.{n}") for n in range(2)]
    for depth in range(1, LEVELS):
        tasks = [asyncio.create_task(level(tasks), name=f"{depth}.{n}") for n in range(2)]
    asyncio.get_running_loop().call_later(0.01, oracle.stop_when_idle)
    await asyncio.gather(*tasks)


asyncio.run(main())
