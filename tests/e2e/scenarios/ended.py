"""
Tasks that have ended in every way and are still referred to: by a list, by each other only, frozen, of a subclass, of
asyncio's Python code.
"""

import asyncio
import gc

import oracle


class Job(asyncio.Task):
    pass


async def returns(value):
    return value


async def fails(cause):
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError(cause) from error


async def sleeps():
    await asyncio.sleep(1000)


async def keeps(own):
    """What it returns refers to its task: a circle that nothing else refers to."""
    return own


async def main():
    loop = asyncio.get_running_loop()
    gc.collect()
    gc.disable()
    frozen = [asyncio.create_task(returns(1), name="frozen"), asyncio.create_task(fails("frozen"), name="frozen failed")]
    await asyncio.wait(frozen)
    gc.freeze()
    oracle.frozen += frozen
    done, failed = asyncio.create_task(returns(2), name="done"), asyncio.create_task(fails("told"), name="failed")
    silent, cancelled = asyncio.create_task(fails("never told")), asyncio.create_task(sleeps(), name="cancelled")
    job, python = Job(returns(3), loop=loop, name="job"), asyncio.tasks._PyTask(fails("python"), loop=loop, name="python")
    oracle.keep += [done, failed, silent, cancelled, job, python]
    own = []
    own.append(asyncio.create_task(keeps(own), name="circle"))
    await asyncio.sleep(0)
    cancelled.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    failed.exception()
    del own, frozen, done, failed, silent, cancelled, job, python
    await oracle.stop_after_this()


asyncio.run(main())
