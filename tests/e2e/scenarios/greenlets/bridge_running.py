"""Code that SQLAlchemy's greenlet_spawn() called is running right now: the coroutines are in the suspended main greenlet."""

import asyncio

import greenlet_oracle as oracle
from sqlalchemy.util import greenlet_spawn


def crunch():
    oracle.stop()


def business():
    crunch()


async def handler():
    await greenlet_spawn(business)


async def main():
    task = asyncio.create_task(handler(), name="busy")
    await task


asyncio.run(main())
