"""
Tasks in coroutines and asynchronous generators that Cython compiled (extensions/compiled.pyx), alone and mixed with those
of Python; the one that runs is Python code that a compiled coroutine awaits.

asyncio's own answer has the frames that Cython makes up for the asking, without a line, and stops at generators and
wherever Python and compiled code meet. The expectation has the qualified names and goes on.
"""

import asyncio
import pathlib
import sys
import types

import oracle

place = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(place / "extensions" / f"python3.{sys.version_info.minor}"))

import compiled  # noqa: E402

oracle.lengths = True
oracle.compiled_files["numbers"] = "compiled.pyx"


class Holds:
    """An object that is a coroutine by its methods only."""

    __slots__ = ("coro",)

    def __init__(self, coro):
        self.coro = coro

    def send(self, value):
        return self.coro.send(value)

    def throw(self, *args):
        return self.coro.throw(*args)

    def close(self):
        return self.coro.close()

    def __await__(self):
        return self.coro.__await__()


async def python(awaitable):
    await awaitable


async def in_async_with(awaitable):
    async with compiled.Pool(awaitable):
        pass


async def for_compiled(awaitable):
    async for _ in compiled.numbers(awaitable):
        pass


@types.coroutine
def for_generator(awaitable):
    yield from compiled.generator(awaitable)


async def runs():
    await asyncio.sleep(0.05)
    oracle.keep.append(asyncio.create_task(compiled.calls(asyncio.sleep(1000)), name="created"))
    oracle.stop()


async def main():
    new = asyncio.get_running_loop().create_future
    coroutines = {
        "waits": compiled.waits(new()),
        "calls": compiled.calls(new()),
        "iterates": compiled.iterates(new()),
        "method": compiled.Connection(new()).fetch(),
        "class": in_async_with(new()),
        "python_on_compiled": python(compiled.calls(new())),
        "compiled_on_python": compiled.calls(python(new())),
        "sandwich": python(compiled.waits(python(compiled.waits(new())))),
        "for_compiled": for_compiled(new()),
        "for_generator": python(for_generator(new())),
        "held": Holds(compiled.waits(new())),
        "task": compiled.waits(asyncio.create_task(python(new()))),
        "running": compiled.calls(runs()),
    }
    oracle.keep += [asyncio.create_task(coroutine, name=name) for name, coroutine in coroutines.items()]
    await new()


asyncio.run(main())
