"""
No task is alive: each thread is blocked in something else. The scenario says of each thread what in, and on which object.
"""

import asyncio
import concurrent.futures
import functools
import os
import queue
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time

import oracle

threads = {}


def truth(name, kind, function, thing, target, *arguments, seconds=None):
    """Start a thread that will be blocked in @p function of @p thing."""
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    blocked = {"in": kind, "function": function, "object": thing and oracle.address(thing), "seconds": seconds}
    threads[name] = thread, kind and blocked


class OwnEvent(threading.Event):
    """A subclass: the method that waits is threading's own."""


class Event:
    """Nobody's event but the scenario's: what it waits in is the lock."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lock.acquire()

    def wait(self):
        self.lock.acquire(timeout=5000)


def enters(thing):
    with thing:
        pass


def waits(condition):
    with condition:
        condition.wait()


def reads(file):
    os.read(file, 1)


def selects(selector):
    selector.select(3000)


def sleeps(function, seconds):
    function(seconds)


def submits(executor):
    executor.submit(pow, 2, 2).result()
    executor.submit(reads, reader)
    executor.submit(time.sleep, 5000).result()


async def uses_asyncio():
    oracle.register()
    await asyncio.sleep(0)


asyncio.run(uses_asyncio())
reader, writer = os.pipe()
left, right = socket.socketpair()
lock, rlock, event, own, mine = threading.Lock(), threading.RLock(), threading.Event(), OwnEvent(), Event()
condition, semaphore, barrier = threading.Condition(), threading.Semaphore(0), threading.Barrier(2)
empty, full, simple = queue.Queue(), queue.Queue(1), queue.SimpleQueue()
future = concurrent.futures.Future()
poll, selector = select.epoll(), selectors.PollSelector()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
lock.acquire()
rlock.acquire()
full.put(1)
truth("sleep", "sleep", "time.sleep", None, sleeps, time.sleep, 4000, seconds=4000)
truth("sleep-float", "sleep", "time.sleep", None, lambda: time.sleep(4000.5), seconds=4000.5)
truth("lock", "lock", "_thread.lock.acquire", lock, lambda: lock.acquire(timeout=5000))
truth("with", "lock", "_thread.lock.__enter__", lock, enters, lock)
truth("rlock", "lock", "_thread.RLock.acquire", rlock, lambda: rlock.acquire(True, 5000))
truth("with-rlock", "lock", "_thread.RLock.__enter__", rlock, enters, rlock)
truth("own-lock", "lock", "_thread.lock.acquire", mine.lock, mine.wait)
truth("event", "event", "Event.wait", event, event.wait)
truth("own-event", "event", "Event.wait", own, own.wait, 6000)
truth("condition", "condition", "Condition.wait", condition, waits, condition)
truth("semaphore", "semaphore", "Semaphore.acquire", semaphore, semaphore.acquire)
truth("barrier", "barrier", "Barrier.wait", barrier, barrier.wait)
truth("get", "queue", "Queue.get", empty, empty.get)
truth("put", "queue", "Queue.put", full, lambda: full.put(2, timeout=5000))
truth("queue-join", "queue", "Queue.join", full, full.join)
truth("simple", "queue", "_queue.SimpleQueue.get", simple, lambda: simple.get())
truth("future", "future", "Future.result", future, lambda: future.result())
truth("futures", "futures", "wait", None, concurrent.futures.wait, [future])
truth("join", "thread", "Thread.join", threads["sleep"][0], lambda: threads["sleep"][0].join())
truth("process", "process", "Popen._wait", child, child.wait)
truth("recv", "socket", "_socket.socket.recv", left, lambda: left.recv(10))
truth("poll", "select", "select.epoll.poll", None, lambda: poll.poll())
truth("select", "select", "_PollLikeSelector.select", None, selects, selector)
truth("read", "read", "posix.read", None, reads, reader)
truth("target", "sleep", "time.sleep", None, time.sleep, 4000, seconds=4000)
truth("partial", "sleep", "time.sleep", None, functools.partial(time.sleep, 4000.25), seconds=4000.25)
truth("method", "socket", "_socket.socket.recv", left, functools.partial(left.recv), 10)
truth("other", "call", "_signal.pause", None, signal.pause)
# Of Python code that only runs nothing is known.
truth("runs", None, "", None, exec, "while True: pass")
executor = concurrent.futures.ThreadPoolExecutor(3, "pool")
truth("submits", "future", "Future.result", None, submits, executor)


def what(thread):
    """What a thread is blocked in; of those of the executor, and of the future that it made, that is known only now."""
    frame = sys._current_frames()[thread.ident]
    if thread.name == "submits":
        while frame.f_code.co_qualname != "Future.result":
            frame = frame.f_back
        return threads[thread.name][1] | {"object": oracle.address(frame.f_locals["self"])}
    if thread.name in threads:
        return threads[thread.name][1]
    if frame.f_code is reads.__code__:
        return {"in": "read", "function": "posix.read", "object": None, "seconds": None}
    if frame.f_code.co_name == "_worker":
        return {"in": "worker", "function": "_worker", "object": oracle.address(executor._work_queue), "seconds": None}
    return {"in": "sleep", "function": "time.sleep", "object": None, "seconds": 5000}


time.sleep(0.5)
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        oracle.blocked[thread.native_id] = what(thread)
oracle.stop()
