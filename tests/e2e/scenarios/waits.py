"""
One task for each thing that a task can wait for, and near misses. The scenario says of each
what it waits for, on which object, and with which numbers.
"""

import asyncio

import oracle

tasks = {}


def truth(name, coroutine, kind, thing=None, **numbers):
    """Make a task that waits for @p thing; a function of the task, if that is known only when it waits."""
    tasks[name] = asyncio.create_task(coroutine, name=name), kind, thing, numbers


def states(name):
    task, kind, thing, numbers = tasks[name]
    if callable(thing):
        thing = thing(task)
    values = {key: value() if callable(value) else value for key, value in numbers.items()}
    if kind in ("lock", "event", "condition", "semaphore", "queue"):
        values["type"] = type(thing).__name__
    oracle.expect(task, waits_on={
        "kind": kind,
        "object": None if thing is None else oracle.address(thing),
        "future": oracle.address(task._fut_waiter) if task._fut_waiter else None,
        **values,
    })  # fmt: skip


def waiter_of(task):
    return task._fut_waiter


def innermost(task):
    coroutine = task.get_coro()
    while hasattr(coroutine, "cr_await") and hasattr(coroutine.cr_await, "cr_frame"):
        coroutine = coroutine.cr_await
    return coroutine.cr_frame.f_locals


def handle_of(task):
    return innermost(task)["h"]


class OwnLock(asyncio.Lock):
    """A subclass of asyncio's: the method that waits is asyncio's own."""


class Lock:
    """Nobody's lock but the scenario's, of the same look."""

    async def acquire(self):
        fut = asyncio.get_running_loop().create_future()
        await fut


# A file of the same name: what the task waits for is not what the variable holds.
other = {}
exec(
    compile(
        "import asyncio\n"
        "class Lock:\n"
        "    async def acquire(self):\n"
        "        fut = asyncio.get_running_loop().create_future()\n"
        "        other = asyncio.get_running_loop().create_future()\n"
        "        await other\n"
        "class Other:\n"
        "    pass\n"
        "Other.acquire = Lock.acquire\n"
        "async def sleep():\n"
        "    self, h, future = 1, 2, 3\n"
        "    await asyncio.get_running_loop().create_future()\n",
        "/nowhere/asyncio/locks.py",
        "exec",
    ),
    other,
)


async def waits(condition):
    async with condition:
        await condition.wait()


async def waits_for(condition):
    async with condition:
        await condition.wait_for(lambda: False)


async def gets(queue):
    return await queue.get()


async def puts(queue, item):
    await queue.put(item)


async def groups(count):
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))
        for n in range(count):
            group.create_task(sleeps(), name=f"child-{n}")


async def groups_again():
    """In the body of a task group it waits for something else."""
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), name="child-of-body")
        await asyncio.sleep(2000)


async def sleeps():
    await asyncio.sleep(1000)


async def with_timeout(coroutine):
    async with asyncio.timeout(500):
        await coroutine


async def gathers():
    await asyncio.gather(asyncio.sleep(0), sleeps(), sleeps())


async def waits_all(timeout=None):
    await asyncio.wait([asyncio.create_task(c) for c in (asyncio.sleep(0), sleeps(), sleeps())], timeout=timeout)


async def waits_first():
    await asyncio.wait([asyncio.create_task(sleeps()), asyncio.create_task(sleeps())], return_when=asyncio.FIRST_COMPLETED)


async def shields(task):
    await asyncio.shield(task)


async def awaits(thing):
    await thing


def make_locks():
    lock, own = asyncio.Lock(), OwnLock()
    for each in (lock, own):
        each._locked = True
    for n in range(3):
        truth(f"lock-{n}", lock.acquire(), "lock", lock, waiters=3)
    truth("own-lock", with_timeout(own.acquire()), "lock", own, waiters=1)
    event = asyncio.Event()
    truth("event-0", event.wait(), "event", event, waiters=2)
    truth("event-1", with_timeout(event.wait()), "event", event, waiters=2)
    condition = asyncio.Condition()
    truth("condition-0", waits(condition), "condition", condition, waiters=2)
    truth("condition-1", waits_for(condition), "condition", condition, waiters=2)
    barrier = asyncio.Barrier(3)
    truth("barrier", barrier.wait(), "condition", barrier._cond, waiters=1)
    semaphore, bounded = asyncio.Semaphore(0), asyncio.BoundedSemaphore(0)
    truth("semaphore", semaphore.acquire(), "semaphore", semaphore, waiters=1)
    truth("bounded", bounded.acquire(), "semaphore", bounded, waiters=1)


async def make_lock_of_condition():
    """Notified, it waits for the lock again."""
    condition = asyncio.Condition()
    truth("notified", waits(condition), "lock", condition._lock, waiters=1)
    await asyncio.sleep(0)
    await condition.acquire()
    condition.notify()


def make_queues():
    empty, full, last, first = asyncio.Queue(), asyncio.Queue(2), asyncio.LifoQueue(1), asyncio.PriorityQueue(5)
    for n in range(2):
        truth(f"get-{n}", gets(empty), "queue", empty, operation="get", size=0, maximum=None, waiters=2)
        full.put_nowait(n)
    last.put_nowait(1)
    truth("put", puts(full, 3), "queue", full, operation="put", size=2, maximum=2, waiters=1)
    truth("put-last", with_timeout(puts(last, 3)), "queue", last, operation="put", size=1, maximum=1, waiters=1)
    truth("get-first", gets(first), "queue", first, operation="get", size=0, maximum=5, waiters=1)
    truth("join", full.join(), "event", full._finished, waiters=1)


async def main():
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    ready = loop.create_future()
    make_locks()
    make_queues()
    await make_lock_of_condition()
    truth("sleep", sleeps(), "timer", handle_of, when=lambda: handle_of(tasks["sleep"][0]).when())
    truth("gather", gathers(), "gather", waiter_of, left=2, total=3)
    truth("wait", waits_all(), "wait", left=2, total=3)
    truth("wait-timeout", waits_all(3000), "wait", left=2, total=3)
    truth("wait-first", waits_first(), "wait", left=2, total=2)
    truth("taskgroup", groups(4), "taskgroup", lambda task: innermost(task)["self"], left=4)
    body = "taskgroup-body"
    truth(body, groups_again(), "timer", handle_of, when=lambda: handle_of(tasks[body][0]).when())
    truth("task", awaits(tasks["sleep"][0]), "task", waiter_of)
    truth("shield", shields(tasks["sleep"][0]), "future")
    truth("future", awaits(future), "future")
    truth("ready", awaits(ready), "ready")
    truth("not-asyncio", Lock().acquire(), "future")
    truth("other-future", other["Lock"]().acquire(), "future")
    truth("other-class", other["Other"]().acquire(), "future")
    truth("other-file", other["sleep"](), "future")

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        ready.set_result(None)
        for name in tasks:
            states(name)
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


asyncio.run(main())
