"""
Threads that wait for threading locks: held in the body of a with statement, of a function or of a coroutine that is suspended
in it, by hand, through a condition or a generator. A loop that is blocked in a lock that one of its own tasks holds never
moves again.
"""

import asyncio
import contextlib
import queue
import threading
import time

import oracle

reader = threading.Event()
started = []
stated = {}  # name of a thread: (lock, kind, holders)
tasks = {}


def blocks():
    reader.wait()


def has(lock):
    with lock:
        blocks()


def has_twice(lock):
    with lock:
        has(lock)


def acquires(lock):
    lock.acquire()
    blocks()


def waits_for_with(lock):
    with lock:
        pass


def waits_for_timeout(lock):
    acquired = lock.acquire(timeout=1000)
    assert acquired


@contextlib.contextmanager
def guarded(lock):
    with lock:
        yield


def borrows(lock):
    with guarded(lock):
        blocks()


def stacks(lock):
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock)
        blocks()


def waits_in(condition):
    with condition:
        condition.wait()


def takes(condition):
    with condition:
        blocks()


def start(name, function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name=name, daemon=True)
    thread.start()
    started.append(thread)
    time.sleep(0.05)
    return name


def held(waiter, lock, *holders, kind="lock", held=True, total=...):
    """State whom the thread @p waiter waits for: (thread or task, function, how)."""
    stated[waiter] = lock, kind, held, holders, len(holders) if total is ... else total


def locks():
    for name, make, holder, how in (
        ("with", threading.Lock, has, "with"), ("rlock", threading.RLock, has, "with"),
        ("python rlock", threading._PyRLock, has, "with"), ("twice", threading.RLock, has_twice, "with"),
        ("rlock by hand", threading.RLock, acquires, "owner"), ("generator", threading.Lock, borrows, "with"),
        ("stack", threading.Lock, stacks, "ExitStack"),
    ):  # fmt: skip
        lock = make()
        start(f"{name}: holder", holder, lock)
        # An RLock knows its thread, not where that took it.
        function = {has_twice: "has", acquires: "blocks"}.get(holder, holder.__name__)
        for waits in (waits_for_with, waits_for_timeout):
            waiter = start(f"{name}: {waits.__name__}", waits, lock)
            held(waiter, lock, (f"{name}: holder", function, how))
    by_hand = threading.Lock()
    start("by hand: holder", acquires, by_hand)
    held(start("by hand: waiter", waits_for_with, by_hand), by_hand)


def conditions():
    condition = threading.Condition(threading.Lock())
    held(start("condition: waits", waits_in, condition), condition, ("condition: takes", "takes", "with"), kind="condition")
    start("condition: takes", takes, condition)
    free = threading.Condition()
    held(start("condition: free", waits_in, free), free, kind="condition", held=False)
    items = queue.Queue()
    held(start("queue", items.get), items.not_empty, kind="condition", held=False)
    event = threading.Event()
    held(start("event", event.wait), event._cond, kind="condition", held=False)


async def suspended(lock):
    with lock:
        await asyncio.sleep(1000)


async def blocks_its_loop(lock):
    await asyncio.sleep(0)
    with lock:
        pass


async def blocked(lock):
    oracle.register()
    tasks["suspended"] = asyncio.create_task(suspended(lock), name="suspended")
    tasks["blocks"] = asyncio.create_task(blocks_its_loop(lock), name="blocks")
    await asyncio.sleep(1000)


def blocked_loop():
    lock = threading.Lock()
    held(start("loop", asyncio.run, blocked(lock)), lock, ("suspended", "suspended", "with"))
    lock_of_self = threading.Lock()
    held(start("itself", itself, lock_of_self), lock_of_self, ("itself", "itself", "with"))
    oracle.finding("deadlock", [tasks["suspended"]], [lock])
    oracle.finding("deadlock", [], [lock_of_self])


def itself(lock):
    with lock:
        with lock:
            pass


def holder_entry(name, function, how):
    return {"id": oracle.address(tasks[name]) if name in tasks else None, "function": function, "how": how}


def write_down():
    native_ids = {thread.name: thread.native_id for thread in started}
    oracle.notes["threads"] = {
        name: {
            "native_id": native_ids[name],
            "kind": kind,
            "object": oracle.address(lock),
            "held": is_held,
            "holders_total": total,
            "holders": [holder_entry(*holder) for holder in holders],
            "holder_threads": [native_ids.get(holder[0]) for holder in holders],
        }
        for name, (lock, kind, is_held, holders, total) in stated.items()
    }


locks()
conditions()
blocked_loop()
time.sleep(0.2)
write_down()
oracle.stop()
