"""gevent: who waits for a greenlet: those who join it, also in a circle, wait for a result that it sets, or join its pool."""

import gevent
import greenlet_oracle as oracle
from gevent import event, pool

assert gevent.Greenlet.__module__ == "gevent._gevent_cgreenlet"  # else it is another gevent, and not what this is about


def nap():
    gevent.sleep(3600)


def join(other):
    other.join()


def get(thing):
    thing.get()


def join_when_there(names, name):
    names[name].join()


def awaiter(greenlet, how, thing=None):
    return {"id": oracle.address(greenlet), "how": how} | ({"object": oracle.address(thing)} if thing is not None else {})


target = gevent.spawn(nap)
linked, raw, other = event.AsyncResult(), event.AsyncResult(), event.AsyncResult()
target.link(linked)
target.rawlink(raw)
target.link_exception(other.set)  # a method: what it does nobody knows, but it belongs to the result
joins, gets = gevent.spawn(join, target), gevent.spawn(get, target)
joins_joiner = gevent.spawn(join, joins)
results = {thing: gevent.spawn(get, thing) for thing in (linked, raw, other)}
members = pool.Pool()
member = members.spawn(nap)
joins_pool = gevent.spawn(members.join)
circle = {}
pairs = (("one", "two"), ("two", "one"))
one, two = (circle.setdefault(name, gevent.spawn(join_when_there, circle, other)) for name, other in pairs)
waits = gevent.spawn(event.Event().wait)
gevent.sleep(0.01)

oracle.expect(
    target,
    awaited_by=[
        awaiter(joins, "join"),
        awaiter(gets, "join"),
        *(awaiter(waiter, "link", thing) for thing, waiter in results.items()),
    ],
)
oracle.expect(joins, awaited_by=[awaiter(joins_joiner, "join")])
oracle.expect(member, awaited_by=[awaiter(joins_pool, "link", members._empty_event)])
oracle.expect(one, awaited_by=[awaiter(two, "join")])
oracle.expect(two, awaited_by=[awaiter(one, "join")])
for nobody in (joins_joiner, joins_pool, waits, *results.values()):
    oracle.expect(nobody, awaited_by=[])
oracle.extra["named"] = {"target": oracle.address(target), "one": oracle.address(one), "member": oracle.address(member)}
oracle.keep.extend((target, joins, gets, joins_joiner, member, joins_pool, one, two, waits, *results.values(), gevent.get_hub()))
oracle.stop()
