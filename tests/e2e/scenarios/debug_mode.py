"""asyncio's debug mode: every task knows where it was created."""

import asyncio

import oracle


async def sleeps():
    await asyncio.sleep(1000)


def create(group, name):
    return group.create_task(sleeps(), name=name)


async def main():
    async with asyncio.TaskGroup() as group:
        create(group, "by a function")
        group.create_task(sleeps(), name="by main")
        oracle.keep.append(asyncio.ensure_future(sleeps()))
        await asyncio.sleep(0.01)
        group.create_task(oracle.stop_after_this())


asyncio.run(main(), debug=True)
