"""
Tasks and futures of asyncio's Python code beside those of its C code. Between the two asyncio records no awaiter, so the
scenario states who awaits whom; from C to C it is recorded as always.
"""

import asyncio

import oracle

PyTask, PyFuture = asyncio.tasks._PyTask, asyncio.futures._PyFuture


class Job(PyTask):
    pass


async def waits(future):
    await future


async def gathers(*futures):
    await asyncio.gather(*futures)


async def shields(future):
    await asyncio.shield(future)


async def waits_for_first(*futures):
    await asyncio.wait(futures)


async def completes(*futures):
    async for _ in asyncio.as_completed(futures):
        pass


async def groups(future, tasks):
    def factory(loop, coroutine, **kwargs):
        return PyTask(coroutine, loop=loop, **kwargs)

    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        loop.set_task_factory(factory)
        tasks["in group"] = group.create_task(waits(future), name="in group")
        loop.set_task_factory(None)
        tasks["C in group"] = group.create_task(waits(future), name="C in group")


async def main():
    loop = asyncio.get_running_loop()
    tasks = {}

    def create(name, coroutine, cls=PyTask):
        tasks[name] = cls(coroutine, loop=loop, name=name)
        return tasks[name]

    c_future, py_future, own = loop.create_future(), PyFuture(loop=loop), PyFuture(loop=loop)
    c_leaf = create("C leaf", waits(c_future), asyncio.Task)
    py_leaf = create("leaf", waits(c_future), Job)
    create("on Python future", waits(py_future))
    create("C on Python future", waits(py_future), asyncio.Task)
    create("on C task", waits(c_leaf))
    create("C on task", waits(py_leaf), asyncio.Task)
    create("on task", waits(py_leaf))
    create("gathers", gathers(py_leaf, c_leaf, own))
    create("C gathers", gathers(py_leaf, c_leaf), asyncio.Task)
    create("C shields", shields(py_leaf), asyncio.Task)
    create("shields", shields(c_leaf))
    create("C waits", waits_for_first(py_leaf, c_leaf), asyncio.Task)
    create("C completes", completes(py_leaf, c_leaf), asyncio.Task)
    create("C groups", groups(c_future, tasks), asyncio.Task)
    for _ in range(5):
        await asyncio.sleep(0)

    def awaits(future, *names):
        oracle.expect_derived(future, *(tasks[name] for name in names))

    awaits(c_future, "leaf", "in group")
    awaits(py_future, "on Python future", "C on Python future")
    awaits(own, "gathers")
    awaits(c_leaf, "on C task", "gathers", "shields")
    awaits(py_leaf, "C on task", "on task", "gathers", "C gathers", "C shields", "C waits", "C completes")
    awaits(tasks["in group"], "C groups")
    awaits(tasks["gathers"]._fut_waiter, "gathers")
    awaits(tasks["shields"]._fut_waiter, "shields")
    oracle.keep += [tasks, c_future, py_future, own]
    await oracle.stop_after_this()


asyncio.run(main())
