"""
SQLAlchemy's pool: a task has its only connection, another waits for it in methods of the pool that a greenlet runs. A third holds a
threading lock in a function that a greenlet runs, over an await.
"""

import asyncio
import threading

import greenlet_oracle as oracle
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool
from sqlalchemy.util import await_only, greenlet_spawn


async def queries(engine):
    async with engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
        await asyncio.sleep(3600)


def holds(lock):
    with lock:
        await_only(asyncio.sleep(3600))


async def spawns(lock):
    await greenlet_spawn(holds, lock)


def takes(lock):
    with lock:
        pass


async def main():
    loop = asyncio.get_running_loop()
    engine = create_async_engine(
        "sqlite+aiosqlite://", poolclass=AsyncAdaptedQueuePool, pool_size=1, max_overflow=0, pool_timeout=3600
    )
    lock = threading.Lock()
    tasks = [asyncio.create_task(queries(engine), name="queries")]
    await asyncio.sleep(0.2)
    tasks.append(asyncio.create_task(queries(engine), name="waits"))
    tasks.append(asyncio.create_task(spawns(lock), name="spawns"))
    await asyncio.sleep(0.1)
    thread = threading.Thread(target=takes, args=(lock,), daemon=True)
    thread.start()
    await asyncio.sleep(0.1)
    oracle.bridged(tasks)
    oracle.extra |= {
        "within": [hex(id(thing)) for thing in (engine.pool._pool, engine.pool, engine.sync_engine)],
        "lock": hex(id(lock)),
        "thread": thread.native_id,
        "holder": hex(id(tasks[2])),
    }
    oracle.keep.append(engine)
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
