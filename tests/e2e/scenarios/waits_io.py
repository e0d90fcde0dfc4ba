"""
One task for each socket, pipe, process and executor that a task can wait for, and near misses. The scenario says of each
what it waits for.
"""

import asyncio
import concurrent.futures
import contextlib
import multiprocessing
import os
import socket
import sys
import threading
import time

import anyio.to_thread

import oracle

tasks = {}
PEER = ("127.0.0.1", 0)


def truth(name, coroutine, kind, thing=None, **facts):
    """Make a task that waits for @p thing. Facts that are functions are asked for when all wait."""
    tasks[name] = asyncio.create_task(coroutine, name=name), kind, thing, facts


def state(name):
    task, kind, thing, facts = tasks[name]
    values = {key: value() if callable(value) else value for key, value in facts.items()}
    thing = thing() if callable(thing) else thing
    oracle.expect(task, waits_on={
        "kind": kind, "object": thing and oracle.address(thing), "future": oracle.address(task._fut_waiter), **values,
    })  # fmt: skip


def file(name, coroutine, kind, thing, fd, direction, peer=None):
    peer = {"peer": peer} if kind == "socket" else {}
    truth(name, coroutine, kind, thing, fd=fd, direction=direction, **peer)


def pair():
    left, right = socket.socketpair()
    for each in (left, right):
        each.setblocking(False)
    oracle.keep += [left, right]
    return left, right


def address(name):
    return f"{name[0]}:{name[1]}"


async def fills(writer):
    while True:
        writer.write(bytes(1 << 20))
        await writer.drain()


async def reads(reader):
    return await reader.readline()


def make_sockets(loop):
    for method, arguments in (("sock_recv", (10,)), ("sock_recv_into", (bytearray(10),)), ("sock_recvfrom", (10,))):
        left, _ = pair()
        file(method, getattr(loop, method)(left, *arguments), "socket", left, left.fileno(), "read")
    left, _ = pair()
    file("sock_sendall", loop.sock_sendall(left, bytes(10 << 20)), "socket", left, left.fileno(), "write")
    server = socket.create_server(PEER)
    server.setblocking(False)
    file("sock_accept", loop.sock_accept(server), "socket", server, server.fileno(), "read")


def make_watched(loop):
    """Futures that the loop sets when a socket is ready, and one of which only a number is known."""
    for name, add in (("add_reader", loop.add_reader), ("add_writer", loop.add_writer)):
        left, _ = pair()
        fill(left)
        future = loop.create_future()
        add(left, future.set_result, None)
        file(name, awaits(future), "socket", left, left.fileno(), "read" if name == "add_reader" else "write")
    left, _ = pair()
    future = loop.create_future()
    loop.add_reader(left, lambda which: which.set_result(None), future)
    file("argument", awaits(future), "socket", left, left.fileno(), "read")
    left, _ = pair()
    future = loop.create_future()
    loop.add_reader(left.fileno(), future.set_result, None)
    truth("number", awaits(future), "future")


def fill(end):
    """Nothing more can be written to it."""
    with contextlib.suppress(BlockingIOError):
        while True:
            end.send(bytes(1 << 16))


async def make_connecting(loop):
    """The queue of a server that accepts nobody is full."""
    server = socket.create_server(PEER, backlog=0)
    for _ in range(2):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(server.getsockname())
        oracle.keep.append(filler)
    await asyncio.sleep(0.1)
    client = socket.socket()
    client.setblocking(False)
    oracle.keep.append(server)
    peer = address(server.getsockname())
    file("sock_connect", loop.sock_connect(client, server.getsockname()), "socket", client, client.fileno(), "write", peer)


async def make_streams():
    def accepts(reader, writer):
        oracle.keep.append((reader, writer))

    for name, start, connect in (
        ("tcp", asyncio.start_server(accepts, *PEER), lambda server: asyncio.open_connection(*server.sockets[0].getsockname())),
        ("tcp6", asyncio.start_server(accepts, "::1", 0), lambda s: asyncio.open_connection(*s.sockets[0].getsockname()[:2])),
        ("unix", asyncio.start_unix_server(accepts, "socket"), lambda server: asyncio.open_unix_connection("socket")),
    ):  # fmt: skip
        server = await start
        oracle.keep.append(server)
        name_of_server = server.sockets[0].getsockname()
        peer = "socket" if name == "unix" else address(name_of_server) if name == "tcp" else f"[::1]:{name_of_server[1]}"
        reader, writer = await connect(server)
        transport = writer.transport
        fd = transport.get_extra_info("socket").fileno()
        file(f"{name}-read", reads(reader), "socket", transport, fd, "read", peer)
        file(f"{name}-drain", fills(writer), "socket", transport, fd, "write", peer)
        oracle.keep.append((reader, writer))


async def make_pipes(loop):
    end, other = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb"))
    file("pipe-read", reads(reader), "pipe", transport, end, "read")
    oracle.keep += [other, transport]
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(60)", stdin=pipe, stdout=pipe)
    for name, fd, direction, coroutine in (
        ("stdout", 1, "read", reads(child.stdout)),
        ("stdin", 0, "write", fills(child.stdin)),
    ):
        transport = child._transport.get_pipe_transport(fd)
        file(f"child-{name}", coroutine, "pipe", transport, transport.get_extra_info("pipe").fileno(), direction)
    truth("process", child.wait(), "process", child._transport, pid=child.pid)
    oracle.keep.append(child)


def hangs(started, event):
    started.append(threading.get_native_id())
    event.wait()


def sleeps_beside(parent):
    """Ends only after the process that is looked at, however long that takes."""
    while os.getppid() == parent:
        time.sleep(0.1)


async def runs_in(executor, *arguments):
    return await asyncio.get_running_loop().run_in_executor(executor, *arguments)


def executor(name, coroutine, thing, kind, thread=None, place=None, queued=None, busy=None, workers=None):
    facts = {"thread": thread, "place": place, "queued": queued, "busy": busy, "workers": workers}
    truth(name, coroutine, "executor", thing, type=kind, **facts)


async def make_executors(loop):
    event, pool = threading.Event(), concurrent.futures.ThreadPoolExecutor(2, "pool")
    for n in range(2):
        started = []
        executor(f"runs-{n}", runs_in(pool, hangs, started, event), pool, pool.__class__.__name__,
                 lambda started=started: started[0], None, 3, 2, 2)  # fmt: skip
        await asyncio.sleep(0.1)
    for n in range(1, 4):
        executor(f"queued-{n}", runs_in(pool, hangs, [], event), pool, pool.__class__.__name__, None, n, 3, 2, 2)
        await asyncio.sleep(0)
    begun = []
    to_thread = asyncio.to_thread(hangs, begun, event)
    executor("to_thread", to_thread, lambda: loop._default_executor, "ThreadPoolExecutor", lambda: begun[0], None, 0, 1,
             lambda: loop._default_executor._max_workers)  # fmt: skip
    processes = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
    executor("processes", runs_in(processes, sleeps_beside, os.getpid()), processes, "ProcessPoolExecutor", queued=1, workers=1)
    ours = []
    anyio_thread = anyio.to_thread.run_sync(hangs, ours, event)
    executor("anyio", anyio_thread, lambda: worker(ours[0]), "WorkerThread", lambda: ours[0])
    oracle.keep += [pool, processes]


def worker(native_id):
    return next(thread for thread in threading.enumerate() if thread.native_id == native_id)


async def awaits(thing):
    return await thing


async def wraps(loop):
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(1000), loop))


def make_near_misses(loop):
    """A stream that has no transport; a future of another thread that is no executor's."""
    truth("fed", reads(asyncio.StreamReader()), "future")
    other = concurrent.futures.Future()
    truth("wrapped", awaits(asyncio.wrap_future(other)), "future")
    truth("threadsafe", wraps(loop), "future")


async def main():
    loop = asyncio.get_running_loop()
    make_sockets(loop)
    make_watched(loop)
    await make_connecting(loop)
    await make_streams()
    await make_pipes(loop)
    await make_executors(loop)
    make_near_misses(loop)
    await asyncio.sleep(1)

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        for name in tasks:
            state(name)
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


oracle.texts = False
asyncio.run(main())
