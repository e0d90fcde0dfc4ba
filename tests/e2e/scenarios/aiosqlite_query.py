"""
aiosqlite: a query that its thread is at work on, one that waits behind it, and a connection that is being opened. The
connection, and a query's cursor, are objects that can be awaited or entered; aiosqlite.connect() is also a task's coroutine.
"""

import asyncio
import threading

import aiosqlite

import oracle

oracle.lengths = True
at_work = threading.Event()


def slow():
    at_work.set()
    threading.Event().wait()


async def query(connection):
    async with connection.execute("SELECT slow()") as cursor:
        await cursor.fetchone()


async def iterate(connection):
    async for _ in await connection.execute("SELECT 1"):
        pass


async def transaction(connection):
    await connection.execute("BEGIN")
    await connection.commit()


async def main():
    async with aiosqlite.connect(":memory:") as connection, asyncio.TaskGroup() as group:
        await connection.create_function("slow", 0, slow)
        group.create_task(query(connection), name="query")
        while not at_work.is_set():
            await asyncio.sleep(0.01)
        group.create_task(iterate(connection), name="iterate")
        group.create_task(transaction(connection), name="transaction")
        oracle.keep.append(asyncio.create_task(connection.execute("SELECT 2"), name="object"))
        asyncio.get_running_loop().call_later(0.1, oracle.stop_when_idle)


asyncio.run(main())
