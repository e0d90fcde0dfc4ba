"""
Tasks that nothing will wake, and what there is far too much of; beside each a near miss.

The wakeup of a task gets lost when an interrupt strikes while the loop has its handle in hand. Requests to cancel pile up
where a task swallows them and a supervisor asks again and again, callbacks where a future that never ends is watched anew
each time, or where all requests wait for the same one, ended awaiters likewise.
"""

import asyncio

import oracle

CANCELS, CALLBACKS = 100, 1000  # more than these are too many


async def awaits(future):
    await future


async def sleeps():
    await asyncio.sleep(1000)


async def stubborn():
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            pass


async def ends():
    pass


def ignore(future):
    pass


async def ask_to_cancel(times):
    task = asyncio.create_task(stubborn(), name=f"cancelled {times} times")
    for _ in range(times):
        await asyncio.sleep(0)
        task.cancel()
    return task


async def main():
    loop = asyncio.get_running_loop()
    lost, woken, watched, almost, shared = [loop.create_future() for _ in range(5)]
    slow = asyncio.futures._PyFuture(loop=loop), asyncio.futures._PyFuture(loop=loop)
    tasks = {
        "lost": asyncio.create_task(awaits(lost), name="lost"),
        "woken": asyncio.create_task(awaits(woken), name="woken"),
        "python lost": asyncio.tasks._PyTask(awaits(slow[0]), loop=loop, name="python lost"),
        "python woken": asyncio.tasks._PyTask(awaits(slow[1]), loop=loop, name="python woken"),
        "watched": asyncio.create_task(awaits(watched), name="watched"),
        "almost": asyncio.create_task(awaits(almost), name="almost"),
        "followed": asyncio.create_task(sleeps(), name="followed"),
        "hardly followed": asyncio.create_task(sleeps(), name="hardly followed"),
    }
    ended = [asyncio.create_task(ends()) for _ in range(CALLBACKS + 1)]
    oracle.finding("runaway", [await ask_to_cancel(CANCELS + 1)])
    await ask_to_cancel(CANCELS)
    for number, follower in enumerate(ended):
        asyncio.future_add_to_awaited_by(tasks["followed"], follower)
        if number > 0:
            asyncio.future_add_to_awaited_by(tasks["hardly followed"], follower)
    for number in range(CALLBACKS):  # the first one is the task that awaits it
        watched.add_done_callback(ignore)
        if number > 0:
            almost.add_done_callback(ignore)
    oracle.keep.append([asyncio.create_task(awaits(shared), name="shares") for _ in range(CALLBACKS + 1)])
    oracle.finding("runaway", [tasks["followed"]])
    oracle.finding("runaway", [], [watched])
    oracle.finding("runaway", [], [shared])
    for name, future in zip(("python lost", "python woken"), slow):
        oracle.expect_derived(future, tasks[name])
    oracle.finding("done-not-woken", [tasks["lost"]], [lost])
    oracle.finding("done-not-woken", [tasks["python lost"]], [slow[0]])

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        for future in (lost, slow[0]):
            future.set_result(None)
            loop._ready.pop().cancel()
        woken.set_result(None)
        slow[1].set_result(None)
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


asyncio.run(main())
