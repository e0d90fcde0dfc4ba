"""Subclasses, in Python, of the C classes Task and Future: with an instance dict, and with slots."""

import asyncio

import oracle


class MyTask(asyncio.Task):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.colour = "green"


class SlotTask(asyncio.Task):
    __slots__ = ("colour",)


class MyFuture(asyncio.Future):
    pass


async def waits(future):
    await future


async def main():
    loop = asyncio.get_running_loop()
    future = MyFuture()
    task = MyTask(waits(future), loop=loop, name="mine")
    slots = SlotTask(waits(task), loop=loop)
    oracle.keep += [future, task, slots]
    await oracle.stop_after_this()


asyncio.run(main())
