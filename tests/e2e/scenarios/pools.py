"""
Tasks that wait in pools: of their own classes, with attributes of all kinds, in slots and in a __dict__, and of libraries. What is
shown of each are its numbers and the lengths of its containers; that is read here from the object itself, without its properties.
"""

import asyncio
import collections
import math

import aiohttp
from aiohttp import web

import oracle

tasks = {}
stated = {}


class Pool:
    """As httpcore's: the pool, its requests, each of which waits for an event."""

    def __init__(self, size):
        self._max_connections = size
        self._keepalive_expiry = 5.0
        self._limit = math.inf
        self._retries = -1
        self._http2 = False
        self._name = "hidden"
        self._password = 1234
        self._connections = [object() for _ in range(size)]
        self._requests = []
        self._closed = None
        self._hooks = {"a": 1, "b": 2}
        self._factory = print

    @property
    def broken(self):
        raise AssertionError("properties are not called")

    async def get(self):
        request = Request()
        self._requests.append(request)
        await request.wait_for_connection()


class Request:
    """Nothing to show."""

    def __init__(self):
        self.event = asyncio.Event()

    async def wait_for_connection(self):
        await self.event.wait()


class Slotted:
    __slots__ = ("__weakref__", "free", "limit", "ready", "unset", "used", "waiters")

    def __init__(self):
        self.limit, self.used, self.free = 10, frozenset((1, 2, 3)), ()
        self.waiters, self.ready = collections.deque(), collections.OrderedDict(a=1)

    async def acquire(self):
        def inner():
            return self  # the parameter lives in a cell

        future = asyncio.get_running_loop().create_future()
        self.waiters.append(future)
        await future


class Many(dict):
    def __init__(self):
        super().__init__(a=1)
        for n in range(20):
            setattr(self, f"count_{n}", n)

    async def wait(self):
        await asyncio.get_running_loop().create_future()


class Outer:
    depth = 1  # the class's own

    def __init__(self, inner, depth):
        self.inner, self.level = inner, depth

    async def wait(self):
        await self.inner.wait()


async def with_self(self):
    """It waits for a timer: nothing more is to be told."""
    await asyncio.sleep(1000)


def start(name, coroutine, *objects):
    tasks[name] = asyncio.create_task(coroutine, name=name)
    stated[name] = objects


def members_of(thing):
    """(members, whether there are more)"""
    slots = [name for cls in type(thing).__mro__ for name in sorted(vars(cls).get("__slots__", ()))]
    names = [*getattr(thing, "__dict__", {}), *slots]
    members = {}
    for name in names:
        value = getattr(thing, name, None) if name != "__weakref__" else None
        if isinstance(value, (int, float)) and name != "_password":
            members[name] = value if math.isfinite(value) else None
        elif isinstance(value, (list, tuple, dict, set, frozenset, collections.deque)):
            members[name] = {"type": oracle.type_name(value), "length": len(value)}
    return dict([*members.items()][:12]), len(members) > 12


def write_down():
    for name, objects in stated.items():
        oracle.notes.setdefault("within", {})[oracle.address(tasks[name])] = [oracle.address(thing) for thing in objects]
    things = {id(thing): thing for objects in stated.values() for thing in objects}
    oracle.notes["pools"] = {}
    for thing in things.values():
        members, more = members_of(thing)
        oracle.notes["pools"][oracle.address(thing)] = {"type": oracle.type_name(thing), "members": members, "more": more}
    oracle.stop()


def own():
    pool, slotted, many = Pool(3), Slotted(), Many()
    for n in range(4):
        start(f"pool-{n}", pool.get(), pool)
    start("slotted", slotted.acquire(), slotted)
    start("many", many.wait(), many)
    first = Outer(many, 1)
    second = Outer(first, 2)
    start("outer", Outer(second, 3).wait(), many, first, second)
    start("timer", with_self(pool))


async def handle(request):
    await asyncio.sleep(1000)


async def fetches(session, port):
    async with session.get(f"http://127.0.0.1:{port}/"):
        pass


async def of_aiohttp():
    application = web.Application()
    application.router.add_get("/", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1))
    oracle.keep.append((runner, session))
    tasks["aiohttp"] = asyncio.create_task(fetches(session, port), name="aiohttp")
    await asyncio.sleep(0.1)
    start("aiohttp waits", fetches(session, port), session.connector, session)


async def main():
    own()
    await of_aiohttp()
    await asyncio.sleep(0.2)
    asyncio.get_running_loop().call_soon(write_down)
    await asyncio.sleep(1000)


asyncio.run(main())
