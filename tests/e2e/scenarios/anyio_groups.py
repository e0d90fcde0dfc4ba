"""
anyio on asyncio: nested task groups, cancel scopes, events, locks, memory streams, a worker thread, a TCP server and its
client over a real socket.
"""

import threading

import anyio

import oracle

oracle.lengths = True
at_work = threading.Event()


def work():
    at_work.set()
    threading.Event().wait()


async def sleeps():
    await anyio.sleep(1000)


async def in_scope():
    with anyio.move_on_after(1000):
        await sleeps()


async def nested():
    async with anyio.create_task_group() as group:
        group.start_soon(in_scope, name="inner")
        group.start_soon(sleeps, name="inner sleeps")


async def serve(listener, *, task_status):
    async def handle(stream):
        async with stream:
            await stream.send(await stream.receive())
            await stream.receive()

    task_status.started()
    await listener.serve(handle)


async def client(port):
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(b"ping")
        await stream.receive()
        await stream.receive()


async def consume(stream):
    async for _ in stream:
        pass


async def locked(lock):
    async with lock:
        await sleeps()


async def starts(*, task_status):
    await sleeps()


async def main():
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    send, receive = anyio.create_memory_object_stream()
    lock = anyio.Lock()
    async with anyio.create_task_group() as group, send:
        await group.start(serve, listener, name="server")
        group.start_soon(client, port, name="client")
        group.start_soon(nested, name="nested")
        group.start_soon(anyio.Event().wait, name="event")
        group.start_soon(consume, receive, name="consume")
        group.start_soon(locked, lock, name="holds")
        group.start_soon(locked, lock, name="waits")
        group.start_soon(anyio.to_thread.run_sync, work, name="thread")
        group.start_soon(group.start, starts, name="starting")
        while not at_work.is_set():
            await anyio.sleep(0.01)
        await anyio.sleep(0.1)
        oracle.asyncio.get_running_loop().call_soon(oracle.stop_when_idle)
        await sleeps()


anyio.run(main)
