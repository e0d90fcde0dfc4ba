"""
Tasks that wait for each other over what they hold, and locks that are free although tasks wait for them; near misses.

A lock that is free with waiters is what a release() leaves that is interrupted before it has woken the first of them: the
scenario does by hand what is left of it then.
"""

import asyncio

import anyio

import oracle

tasks = {}
stated = []


def start(name, coroutine):
    tasks[name] = asyncio.create_task(coroutine, name=name)


async def sleeps():
    await asyncio.sleep(1000)


async def has(first, then):
    async with first:
        await asyncio.sleep(0)
        await then


async def takes(lock):
    async with lock:
        pass


async def by_hand(first, then):
    await first.acquire()
    await asyncio.sleep(0)
    await then


async def gathers(lock, name, *others):
    async with lock:
        start(name, takes(lock))
        await asyncio.gather(tasks[name], *others)


async def groups(lock, name):
    async with lock, asyncio.TaskGroup() as group:
        tasks[name] = group.create_task(takes(lock), name=name)


async def awaits(future):
    await future


def stuck(names, *locks):
    stated.append(("deadlock", names, locks))


def free(thing, *names):
    stated.append(("free-but-waited", names, [thing]))


def make_deadlocks():
    own = asyncio.Lock()
    start("own", has(own, takes(own)))
    stuck(["own"], own)

    a, b = asyncio.Lock(), asyncio.Lock()
    start("AB", has(a, takes(b)))
    start("BA", has(b, takes(a)))
    start("behind AB and BA", takes(a))
    stuck(["AB", "BA"], a, b)

    bounded = asyncio.BoundedSemaphore(1)
    start("bounded", has(bounded, takes(bounded)))
    stuck(["bounded"], bounded)

    lock, other = asyncio.Lock(), asyncio.Lock()
    start("gathers", gathers(lock, "gathered"))
    start("groups", groups(other, "in group"))
    stuck(["gathers", "gathered"], lock)
    stuck(["groups", "in group"], other)

    one, two = anyio.Lock(), anyio.Lock()
    start("anyio-12", has(one, takes(two)))
    start("anyio-21", has(two, takes(one)))
    stuck(["anyio-12", "anyio-21"], one, two)

    limiter, lock = anyio.CapacityLimiter(1), asyncio.Lock()
    start("limited", has(limiter, takes(lock)))
    start("unlimited", has(lock, takes(limiter)))
    stuck(["limited", "unlimited"], limiter, lock)


def make_near_misses(future):
    sleeper = asyncio.Lock()
    start("sleeper", has(sleeper, sleeps()))
    start("waits for the sleeper", takes(sleeper))

    a, b, c = asyncio.Lock(), asyncio.Lock(), asyncio.Lock()
    start("ABC", has(a, takes(b)))
    start("BCA", has(b, takes(c)))
    start("C", has(c, awaits(future)))

    # More may have been taken than by those who are seen to have it.
    unbounded, two = asyncio.Semaphore(1), asyncio.BoundedSemaphore(2)
    start("unbounded", has(unbounded, takes(unbounded)))
    start("one of two", has(two, by_hand(two, takes(two))))

    hand = asyncio.Lock()
    start("by hand", by_hand(hand, takes(hand)))

    # One of two that it waits for can go on: it may fail, and end the wait.
    start("gathers two", gathers(asyncio.Lock(), "gathered with another", sleeps()))


async def main():
    loop = asyncio.get_running_loop()
    lock, semaphore, woken, third = asyncio.Lock(), asyncio.Semaphore(0), asyncio.Lock(), anyio.Semaphore(0)
    lock._locked = woken._locked = True
    make_deadlocks()
    make_near_misses(loop.create_future())
    start("free-0", takes(lock))
    start("free-1", takes(lock))
    start("free-2", takes(semaphore))
    start("free-3", takes(third))
    start("woken-0", takes(woken))
    start("woken-1", takes(woken))

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        lock._locked = False
        semaphore._value = third._value = 1
        free(lock, "free-0", "free-1")
        free(semaphore, "free-2")
        free(third, "free-3")
        woken.release()
        for kind, names, things in stated:
            oracle.finding(kind, [tasks[name] for name in names], things)
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


asyncio.run(main())
