"""
Loops whose own thread is blocked: in each thread another call that waits, made by a task or a callback. Near misses: a
thread that sleeps for a loop, a loop that reads a socket which does not block, one that sleeps as loops do.
"""

import asyncio
import queue
import socket
import sys
import threading
import time

import oracle

loops, tasks, things, threads = {}, {}, {}, {}
lock = threading.Lock()


async def sleeps():
    await asyncio.sleep(1000)


def sleep():
    time.sleep(1000)


def receive():
    left.recv(1)


def in_loop(name, function, *arguments):
    """Run a function that blocks in a task of a loop of its own."""

    async def blocks():
        oracle.register()
        loops[name] = asyncio.get_running_loop()
        tasks[name] = asyncio.current_task()
        await asyncio.sleep(0)
        function(*arguments)

    start(name, blocks())


def start(name, coroutine):
    threads[name] = threading.Thread(target=asyncio.run, args=(coroutine,), name=name, daemon=True)
    threads[name].start()


def found(name, *others):
    oracle.finding("loop-blocked", [*others, tasks[name]] if tasks[name] else [], [loops[name], *things.get(name, ())])


async def result_of_own(name, steps):
    """Wait for a coroutine that only the loop itself could run: as a handle that is ready, or as a task by now."""
    oracle.register()
    loops[name], tasks[name] = asyncio.get_running_loop(), asyncio.current_task()
    future = asyncio.run_coroutine_threadsafe(sleeps(), loops[name])
    things[name] = [future]
    for _ in range(steps):
        await asyncio.sleep(0)
    future.result()


async def result_of_other():
    oracle.register()
    loops["other"], tasks["other"] = asyncio.get_running_loop(), asyncio.current_task()
    future = asyncio.run_coroutine_threadsafe(sleeps(), loops["idle"])
    things["other"] = [future]
    future.result()


async def blocks_in_callback():
    oracle.register()
    loops["callback"], tasks["callback"] = asyncio.get_running_loop(), None
    loops["callback"].call_soon(sleep)
    await sleeps()


async def idle():
    oracle.register()
    loops["idle"] = asyncio.get_running_loop()
    left, right = socket.socketpair()
    left.setblocking(False)
    oracle.keep.append(right)
    asyncio.create_task(asyncio.to_thread(time.sleep, 1000), name="in a thread of its own")
    await loops["idle"].sock_recv(left, 1)


def wait_for(name, function):
    """Wait until the thread has come to rest in a function."""
    while (frame := sys._current_frames().get(threads[name].ident)) is None or frame.f_code.co_name != function:
        time.sleep(0.01)
    time.sleep(0.05)


def takes(lock):
    with lock:
        pass


items, thread = queue.Queue(), threading.Thread(target=time.sleep, args=(1000,), name="slow", daemon=True)
left, right = socket.socketpair()
thread.start()
lock.acquire()
things |= {"lock": [lock], "queue": [items], "socket": [left], "join": [thread]}
start("idle", idle())
wait_for("idle", "select")
in_loop("sleep", sleep)
in_loop("lock", takes, lock)
in_loop("queue", items.get)
in_loop("socket", receive)
in_loop("join", thread.join)
start("own handle", result_of_own("own handle", 0))
start("own task", result_of_own("own task", 3))
start("other", result_of_other())
start("callback", blocks_in_callback())
for name, function in (
    ("sleep", "sleep"), ("lock", "takes"), ("queue", "wait"), ("socket", "receive"), ("join", "join"), ("own handle", "wait"),
    ("own task", "wait"), ("other", "wait"), ("callback", "sleep"),
):  # fmt: skip
    wait_for(name, function)


def task_in(name):
    """The task that run_coroutine_threadsafe() has made in a loop."""
    return next(task for task in asyncio.all_tasks(loops[name]) if task.get_coro().__name__ == "sleeps")


for name in ("sleep", "lock", "queue", "socket", "join", "own handle", "callback"):
    found(name)
found("own task", task_in("own task"))
found("other", task_in("idle"))
oracle.stop()
