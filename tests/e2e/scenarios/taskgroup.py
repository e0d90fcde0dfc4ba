"""A task group: the process dies in a plain function, four calls deep in a task that two tasks and the group's owner wait for."""

import asyncio

import oracle


def c5():
    oracle.stop()


async def c4():
    await asyncio.sleep(0)
    c5()


async def c3():
    await c4()


async def c2():
    await c3()


async def c1(task):
    await task


async def main():
    async with asyncio.TaskGroup() as group:
        task = group.create_task(c2(), name="c2_root")
        group.create_task(c1(task), name="sub_main_1")
        group.create_task(c1(task), name="sub_main_2")


asyncio.run(main())
