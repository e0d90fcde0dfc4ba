"""
gevent: threads whose Hub cannot run, since a greenlet waits in C for something that gevent does not know of; and some that only
look so.
"""
import queue
import socket
import threading
import time

import gevent
import greenlet_oracle as oracle

assert gevent.Greenlet.__module__ == "gevent._gevent_cgreenlet"  # else it is another gevent, and not what this is about
started = threading.Semaphore(0)
blocked = {}  # what the call is: Hub and greenlet


def nap():
    gevent.sleep(3600)


def here(call, others):
    """The next call of this greenlet blocks its thread."""
    oracle.keep.extend((gevent.getcurrent(), gevent.get_hub()))
    oracle.register()
    if others:
        blocked[call] = {
            "objects": [oracle.address(gevent.get_hub()), oracle.address(gevent.getcurrent())],
            "others": others,
        }
    started.release()


def with_hub(function, *arguments, naps=2):
    """In the thread's main greenlet, while others wait."""
    oracle.keep.extend(gevent.spawn(nap) for _ in range(naps))
    gevent.sleep(0.01)
    function(*arguments)


def acquire(naps):
    lock = threading.Lock()
    lock.acquire()
    here("_thread.lock.acquire", naps)
    lock.acquire()


def enter(naps):
    lock = threading.Lock()
    lock.acquire()
    here("_thread.lock.__enter__", naps)
    with lock:
        pass


def spawned():
    """Not the main greenlet, which waits for it."""
    child = gevent.spawn(sleep)
    oracle.expect(child, awaited_by=[{"id": oracle.address(gevent.getcurrent()), "how": "join"}])
    child.join()


def sleep():
    here("time.sleep", 3)
    time.sleep(3600)


def receive():
    left, right = socket.socketpair()
    oracle.keep.extend((left, right))
    here("_socket.socket.recv", 2)
    left.recv(1)


def get():
    simple = queue.SimpleQueue()
    here("_queue.SimpleQueue.get", 2)
    simple.get()


def wait():
    event = threading.Event()
    here("Event.wait", 2)
    event.wait()


def cooperates():
    """Near miss: the Hub itself runs, and waits for its loop."""

    def in_hub():
        oracle.keep.append(gevent.getcurrent())
        oracle.register()
        started.release()

    gevent.get_hub().loop.run_callback(in_hub)
    gevent.sleep(3600)


targets = [
    (with_hub, spawned),
    (with_hub, receive),
    (with_hub, get),
    (with_hub, wait),
    (with_hub, acquire, 2),
    (with_hub, enter, 2),
]
for target, *arguments in targets:
    threading.Thread(target=target, args=arguments, daemon=True).start()
    started.acquire()
# Near misses: the Hub runs; nobody else waits; there is no Hub.
threading.Thread(target=with_hub, args=(cooperates,), daemon=True).start()
started.acquire()
threading.Thread(target=with_hub, args=(acquire, 0), kwargs={"naps": 0}, daemon=True).start()
started.acquire()
threading.Thread(target=acquire, args=(0,), daemon=True).start()
started.acquire()
time.sleep(0.3)  # they are in their calls
oracle.extra["blocked"] = blocked
with_hub(oracle.stop)
