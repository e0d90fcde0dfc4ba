"""greenback's portals, and SQLAlchemy's bridge in one: published packages, which the test downloads."""

import asyncio

import greenback
import greenlet_oracle as oracle
from sqlalchemy.util import await_only, greenlet_spawn


async def deep():
    await asyncio.sleep(3600)


def sync_helper():
    greenback.await_(deep())


async def user_inner():
    sync_helper()


async def ensured():
    await greenback.ensure_portal()
    await user_inner()


async def runs():
    await greenback.with_portal_run(user_inner)


async def runs_sync():
    await greenback.with_portal_run_sync(sync_helper)


async def no_sync_code():
    await greenback.ensure_portal()
    await deep()


async def bridge():
    def business():
        await_only(deep())

    async def spawns():
        await greenlet_spawn(business)

    await greenback.ensure_portal()
    greenback.await_(spawns())


# The functions of this file on each stack, innermost first.
OWN = {
    ensured: ["deep", "sync_helper", "user_inner", "ensured"],
    runs: ["deep", "sync_helper", "user_inner", "runs"],
    runs_sync: ["deep", "sync_helper", "runs_sync"],
    no_sync_code: ["deep", "no_sync_code"],
    bridge: ["deep", "bridge.<locals>.business", "bridge.<locals>.spawns", "bridge"],
}


async def main():
    loop = asyncio.get_running_loop()
    tasks = [asyncio.create_task(function(), name=function.__name__) for function in OWN]
    await asyncio.sleep(0.1)
    oracle.extra["own"] = {function.__name__: names for function, names in OWN.items()}
    oracle.keep.extend(tasks)
    loop.call_soon(oracle.stop)
    await loop.create_future()


asyncio.run(main())
