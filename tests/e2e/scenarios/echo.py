"""An echo server and 1,000 clients in a task group, each waiting for its second answer; the handlers wait for them."""

import asyncio

import oracle

CLIENTS = 1000


async def main():
    handlers = 0

    async def handle(reader, writer):
        nonlocal handlers
        writer.write(await reader.readexactly(4))
        handlers += 1
        await reader.readexactly(4)

    async def client(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"ping")
        await reader.readexactly(4)
        nonlocal answered
        answered += 1
        await reader.readexactly(4)

    def stop_when_all_wait():
        if handlers == answered == CLIENTS:
            oracle.stop_when_idle()
        else:
            asyncio.get_running_loop().call_later(0.01, stop_when_all_wait)

    answered = 0
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    stop_when_all_wait()
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve_forever(), name="server task")
        for _ in range(CLIENTS):
            group.create_task(client(server.sockets[0].getsockname()[1]))


asyncio.run(main())
