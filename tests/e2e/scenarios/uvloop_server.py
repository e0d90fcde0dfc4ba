"""
uvloop (for 3.14 only): its own coroutines, compiled by Cython, over real sockets; streams, a subprocess, a thread.

asyncio's own answer stops where Python awaits one of uvloop's coroutines.
"""

import asyncio
import socket
import threading

import uvloop

import oracle

oracle.lengths = True
at_work = threading.Event()
answered = set()


def work():
    at_work.set()
    threading.Event().wait()


async def handle(reader, writer):
    writer.write(await reader.readexactly(4))
    answered.add("server")
    await reader.readexactly(4)


async def client(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"ping")
    await reader.readexactly(4)
    answered.add("client")
    await reader.readline()


async def receives(connection):
    await asyncio.get_running_loop().sock_recv(connection, 100)


async def accepts():
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    await asyncio.get_running_loop().sock_accept(listener)


async def runs_program():
    process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    answered.add("program")
    await asyncio.gather(process.wait(), process.stdout.read())


async def main():
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(False)
    oracle.keep += ends
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve_forever(), name="server")
        group.create_task(client(server.sockets[0].getsockname()[1]), name="client")
        group.create_task(receives(ends[0]), name="sock_recv")
        group.create_task(accepts(), name="sock_accept")
        group.create_task(asyncio.to_thread(work), name="thread")
        group.create_task(runs_program(), name="program")
        oracle.keep.append(loop.create_task(loop.sock_recv(ends[1], 100), name="object"))
        while len(answered) < 3 or not at_work.is_set():
            await asyncio.sleep(0.01)
        loop.call_later(0.1, oracle.stop)


uvloop.run(main())
