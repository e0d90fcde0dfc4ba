"""gevent: a greenlet for each thing that can be waited on, pending ones, one that waits in C code only, the Hub."""

import sys

import gevent
import greenlet_oracle as oracle
from gevent import event, lock, queue, socket

assert gevent.Greenlet.__module__ == "gevent._gevent_cgreenlet"  # else it is another gevent, and not what this is about


class Worker(gevent.Greenlet):
    def _run(self):
        wait_event()


def wait_event():
    an_event.wait()


def wait_result():
    result.get()


def wait_semaphore():
    semaphore.acquire()


def wait_get():
    empty.get()


def wait_put():
    full.put(2)


def nap():
    gevent.sleep(3600)


def receive():
    left.recv(1)


def join():
    napper.join()


def join_all():
    gevent.joinall([napper, receiver])


def stop():
    oracle.stop()


an_event, result, semaphore = event.Event(), event.AsyncResult(), lock.Semaphore(0)
empty, full = queue.Queue(), queue.Queue(1)
full.put(1)
left, right = socket.socketpair()
napper = gevent.spawn(nap)
receiver = gevent.spawn(receive)
waits = {
    gevent.spawn(wait_event): ("event", an_event),
    Worker.spawn(): ("event", an_event),
    gevent.spawn(an_event.wait): ("event", an_event),
    gevent.spawn(wait_result): ("event", result),
    gevent.spawn(wait_semaphore): ("semaphore", semaphore),
    gevent.spawn(wait_get): ("queue", empty),
    gevent.spawn(wait_put): ("queue", full),
    napper: ("timer", None),
    receiver: ("socket", None),
    gevent.spawn(join): ("greenlet", napper),
    gevent.spawn_raw(wait_event): ("event", an_event),
}
joiner = gevent.spawn(join_all)
joiner.name = "joins them all"
gevent.sleep(0.01)
pending = gevent.spawn(nap)
where = {"function": "<module>", "file": __file__, "line": sys._getframe().f_lineno - 1}
for waiting, (kind, thing) in waits.items():
    fields = {"kind": kind} | ({"objects": [oracle.address(thing)]} if thing is not None else {})
    oracle.expect(waiting, waits_on=fields)
joining = [waiting for waiting, (kind, _) in waits.items() if kind == "greenlet"]
for joined, awaiters in ((napper, [*joining, joiner]), (receiver, [joiner])):
    oracle.expect(joined, awaited_by=[{"id": oracle.address(each), "how": "join"} for each in awaiters])
both = sorted(map(oracle.address, (napper, receiver)))
oracle.expect(joiner, name="joins them all", waits_on={"kind": "greenlet", "objects": both})
run = {"function": "nap", "file": __file__, "line": nap.__code__.co_firstlineno}
oracle.expect(pending, waits_on=None, run=run, spawned_at=where | {"greenlet": oracle.address(gevent.getcurrent())})
oracle.expect(gevent.get_hub(), hub=True)
oracle.keep.extend((*waits, joiner, pending, gevent.get_hub(), empty, full))
oracle.stop()
