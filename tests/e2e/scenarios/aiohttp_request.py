"""
aiohttp, server and clients in one loop over real sockets, in the middle of requests: a handler at work, one that reads
the rest of a body, a WebSocket on both sides, and session.get() itself as a task's coroutine.

asyncio's own answer has no frames of the task whose coroutine is session.get()'s object, and stops at objects that are
awaited and, in aiohttp's compiled parts, where Python and compiled code meet.
"""

import asyncio

import aiohttp
from aiohttp import web

import oracle

oracle.lengths = True
arrived = set()


def at(place):
    """Stop when all have arrived."""
    arrived.add(place)
    if len(arrived) == 6:
        asyncio.get_running_loop().call_later(0.1, oracle.stop_when_idle)


async def slow(request):
    at(request.query["from"])
    await asyncio.sleep(1000)


async def upload(request):
    await request.content.readexactly(5)
    at("upload")
    await request.read()


async def socket(request):
    response = web.WebSocketResponse()
    await response.prepare(request)
    await response.send_str("hello")
    at("websocket server")
    await response.receive()


async def half_a_body():
    yield b"begin"
    await asyncio.sleep(1000)


async def get_with(session, url):
    async with session.get(url) as response:
        await response.text()


async def get_await(session, url):
    response = await session.get(url)
    await response.text()


async def websocket(session, url):
    async with session.ws_connect(url) as connection:
        await connection.receive()
        at("websocket client")
        async for _ in connection:
            pass


async def main():
    application = web.Application()
    application.add_routes([web.get("/slow", slow), web.post("/upload", upload), web.get("/socket", socket)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    url = f"http://{host}:{port}"
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        task = asyncio.create_task(session.get(f"{url}/slow?from=object"), name="object")
        group.create_task(get_with(session, f"{url}/slow?from=with"), name="with")
        group.create_task(get_await(session, f"{url}/slow?from=await"), name="await")
        group.create_task(get_await_post(session, f"{url}/upload"), name="upload")
        group.create_task(websocket(session, f"{url}/socket"), name="websocket")
        await task


async def get_await_post(session, url):
    async with session.post(url, data=half_a_body()):
        pass


asyncio.run(main())
