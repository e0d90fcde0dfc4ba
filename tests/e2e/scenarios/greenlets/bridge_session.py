"""
SQLAlchemy's AsyncSession and AsyncConnection over aiosqlite: a query that the connection's thread is at work on, called in several
ways; and awaitables that are no coroutines themselves.
"""

import asyncio
import threading

import greenlet_oracle as oracle
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util import await_only, greenlet_spawn

QUERY = text("SELECT block()")


def block():
    threading.Event().wait()


async def raw_connection(engine):
    """An AsyncConnection, and the aiosqlite connection behind it. Each has a thread of its own."""
    connection = await engine.connect()
    raw = (await connection.get_raw_connection()).driver_connection
    await raw.create_function("block", 0, block)
    return connection, raw


async def execute(connection, raw):
    async with AsyncSession(connection) as session:
        await session.execute(QUERY)


async def run_sync(connection, raw):
    def business(session):
        helper(session)

    def helper(session):
        session.scalars(QUERY).all()

    async with AsyncSession(connection) as session:
        await session.run_sync(business)


async def stream(connection, raw):
    async with connection.stream(QUERY) as rows:
        async for _ in rows:
            pass


async def waits_behind(connection, raw):
    """aiosqlite's execute() returns an object that can be awaited. What it does has to wait for the query before."""
    first = asyncio.create_task(connection.execute(QUERY), name="first")
    await asyncio.sleep(0.05)
    oracle.keep.append(first)
    await greenlet_spawn(lambda: await_only(raw.execute("SELECT 1")))


class Awaitable:
    def __await__(self):
        yield from asyncio.get_running_loop().create_future()


async def own_awaitable(connection, raw):
    await greenlet_spawn(lambda: await_only(Awaitable()))


async def numbers():
    await asyncio.sleep(3600)
    yield 1


async def next_item(connection, raw):
    await greenlet_spawn(lambda: await_only(anext(numbers())))


async def next_or_default(connection, raw):
    await greenlet_spawn(lambda: await_only(anext(numbers(), 1)))


FUNCTIONS = (execute, run_sync, stream, waits_behind, own_awaitable, next_item, next_or_default)


async def main():
    loop = asyncio.get_running_loop()
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=NullPool)  # a connection each
    tasks = []
    for function in FUNCTIONS:
        connection, raw = await raw_connection(engine)
        oracle.keep.append(connection)
        tasks.append(asyncio.create_task(function(connection, raw), name=function.__name__))
    await asyncio.sleep(0.2)
    oracle.bridged(tasks)
    oracle.extra["texts"] = {task.get_name(): asyncio.format_call_graph(task) for task in tasks[:2]}
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
