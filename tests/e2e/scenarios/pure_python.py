"""asyncio without its accelerator: tasks and futures are Python classes, which the lists of the C code know nothing of."""

import sys

sys.modules["_asyncio"] = None

import asyncio  # noqa: E402

import oracle  # noqa: E402


class Mixin:
    colour = "green"


class Job(Mixin, asyncio.Task):
    """tp_base leads to Mixin."""

    def __init__(self, *args, **kwargs):
        self.extra = list(range(3))
        super().__init__(*args, **kwargs)


class Slots(asyncio.Task):
    __slots__ = ("colour",)


class MyFuture(asyncio.Future):
    pass


async def waits(future):
    return await future


async def generate(future):
    yield 1
    await future
    yield 2


async def consume(future):
    async for _ in generate(future):
        pass


async def gathers(*futures):
    await asyncio.gather(*futures)


async def shields(future):
    await asyncio.shield(future)


async def waits_for_first(*futures):
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def groups(future):
    async with asyncio.TaskGroup() as group:
        group.create_task(waits(future), name="in group")
        group.create_task(consume(future), name="generator")


async def refuses():
    while True:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            pass


async def ends():
    pass


async def eager_parent(loop, future):
    oracle.keep.append(asyncio.Task(waits(future), loop=loop, name="eager", eager_start=True))
    await future


async def ready():
    """Stops the process while others are ready to run or not begun."""
    asyncio.get_running_loop().call_soon(oracle.stop)
    oracle.keep.append(asyncio.create_task(ends(), name="created"))
    await asyncio.sleep(0)


async def main():
    loop = asyncio.get_running_loop()
    future = MyFuture()
    create = asyncio.create_task
    first = create(waits(future), name="first")
    stubborn = create(refuses(), name="stubborn")
    tasks = [first, stubborn, create(waits(first), name="second"), create(gathers(first, future), name="gathers")]
    tasks += [create(shields(first), name="shields"), create(waits_for_first(first, stubborn), name="wait")]
    tasks += [create(groups(future), name="groups"), create(asyncio.wait_for(future, 1000))]
    tasks += [Job(waits(future), loop=loop, name="job"), Slots(waits(first), loop=loop), create(asyncio.sleep(1000))]
    tasks += [create(eager_parent(loop, future), name="eager parent")]
    oracle.keep += [*tasks, create(ends(), name="ended")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    stubborn.cancel()
    stubborn.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    oracle.keep.append(create(ready(), name="ready"))
    await future


asyncio.run(main())
