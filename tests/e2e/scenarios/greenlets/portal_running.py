"""Synchronous code inside a portal is running right now: the task's own coroutines are in two greenlets, one of which waits."""

import asyncio
import types

import greenlet_oracle as oracle
from greenlet import greenlet


@types.coroutine
def shim(coroutine):
    child = greenlet(coroutine.send)
    oracle.keep.append(child)
    yield child.switch(None)


def crunch():
    oracle.stop()


async def user_inner():
    crunch()


async def user_main():
    await user_inner()


async def handler():
    await shim(user_main())


async def main():
    await asyncio.create_task(handler(), name="busy")


asyncio.run(main())
