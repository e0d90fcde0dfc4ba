"""
Tasks of classes of one's own, registered as asyncio asks for: with asyncio's names for what they hold, with slots and
other names, and with asyncio.Future as their base. One of them is registered as being started eagerly.
"""

import asyncio

import oracle


class Stepper:
    """What makes a task of an object with a loop and a coroutine."""

    __slots__ = ()
    _asyncio_future_blocking = False

    def start(self):
        asyncio._register_task(self)
        self.get_loop().call_soon(self.step)

    def step(self, future=None):
        asyncio._enter_task(self.get_loop(), self)
        try:
            future = self.get_coro().send(None)
        finally:
            asyncio._leave_task(self.get_loop(), self)
        if future is not None:
            future._asyncio_future_blocking = False
            future.add_done_callback(self.step)
        self.suspend(future)

    def suspend(self, future):
        pass

    def done(self):
        return False

    def get_name(self):
        return self._name


class Duck(Stepper):
    def __init__(self, coroutine, loop, name):
        self._coro, self._loop, self._name, self._fut_waiter = coroutine, loop, name, None
        self.callbacks = []

    def get_coro(self):
        return self._coro

    def get_loop(self):
        return self._loop

    def suspend(self, future):
        self._fut_waiter = future

    def add_done_callback(self, callback, *, context=None):
        self.callbacks.append(callback)

    def __await__(self):
        self._asyncio_future_blocking = True
        yield self


class Slots(Stepper):
    __slots__ = ("__weakref__", "_loop", "_name", "work", "flag")

    def __init__(self, coroutine, loop, name):
        self.work, self._loop, self._name, self.flag = coroutine, loop, name, True

    def get_coro(self):
        return self.work

    def get_loop(self):
        return self._loop


class FutureDuck(asyncio.Future, Stepper):
    def __init__(self, coroutine, loop, name):
        super().__init__(loop=loop)
        self._coro, self._name, self._fut_waiter = coroutine, name, None

    def get_coro(self):
        return self._coro

    def suspend(self, future):
        self._fut_waiter = future


async def waits(future):
    await future


async def nests(future):
    await waits(future)


async def main():
    loop = asyncio.get_running_loop()
    future, other = loop.create_future(), loop.create_future()
    duck, slots = Duck(nests(future), loop, "duck"), Slots(waits(other), loop, "slots")
    base = FutureDuck(waits(future), loop, "base")
    on_task = Duck(waits(asyncio.create_task(waits(future), name="C")), loop, "on task")
    eager = Duck(waits(future), loop, "eager")
    c_on_base = asyncio.create_task(waits(base), name="C on base")
    on_duck = asyncio.create_task(waits(duck), name="C on duck")
    for task in (duck, slots, base, on_task):
        task.start()
    asyncio.tasks._register_eager_task(eager)
    for _ in range(5):
        await asyncio.sleep(0)
    oracle.expect(slots, activity="waiting", future=oracle.address(other))
    oracle.expect(eager, activity="created")
    oracle.expect_derived(future, duck, base)
    oracle.expect_derived(other, slots)
    oracle.expect_derived(on_task._fut_waiter, on_task)
    oracle.expect_derived(duck, on_duck)
    oracle.keep += [duck, slots, base, on_task, eager, on_duck, c_on_base, future, other]
    await oracle.stop_after_this()


asyncio.run(main())
