"""100,000 tasks with names: half of them share one, and what nearly all others begin with one does not."""

import asyncio
import os


async def main():
    future = asyncio.get_running_loop().create_future()

    async def waits():
        await future

    names = ["same"] * 50_000 + [f"conn-a-{number:06}" for number in range(49_998)] + ["conn-b", "other"]
    tasks = [asyncio.create_task(waits(), name=name) for name in names]
    await asyncio.sleep(0)
    print(len(tasks), flush=True)
    os.abort()


asyncio.run(main())
