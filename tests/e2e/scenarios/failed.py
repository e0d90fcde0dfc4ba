"""Failed tasks: messages of every kind, causes, contexts, groups, and whether anybody has asked for the exception."""

import asyncio

import oracle


class Problem(Exception):
    pass


class Missing(KeyError):
    pass


async def fails(exception):
    raise exception


async def fails_deep(exception, depth):
    if depth == 0:
        raise exception
    await fails_deep(exception, depth - 1)


async def fails_in_a_function():
    return int("no number")


async def fails_from():
    try:
        await fails(KeyError("inner"))
    except KeyError as inner:
        raise Problem("outer", 2) from inner


async def fails_while_handling():
    try:
        await fails(OSError(2, "No such file or directory", "/nowhere"))
    except OSError:
        {}["absent"]


async def fails_suppressed():
    try:
        await fails(ValueError("hidden"))
    except ValueError:
        raise Problem("only me") from None


async def fails_in_a_group():
    async with asyncio.TaskGroup() as group:
        group.create_task(fails(ValueError("one")))
        group.create_task(fails_from())


async def fails_in_a_circle():
    first, second = Problem("first"), Problem("second")
    first.__cause__, second.__cause__ = second, first
    raise first


def chain_of(count):
    exception = Problem(0)
    for n in range(1, count):
        outer = Problem(n)
        outer.__cause__, exception = exception, outer
    return exception


PLAIN = (
    Problem(), Problem(""), Problem("text"), Problem(1, "two"), Problem(None), Problem([1, {"a": 2}]), KeyError("key"),
    KeyError(1, 2), Missing("missing"), OSError("only text"), OSError(13, "Permission denied"),
    FileNotFoundError(2, "No such file or directory", "a"), OSError(18, "Invalid cross-device link", "a", None, "b"),
    ExceptionGroup("many", [ValueError(1), ExceptionGroup("nested", [TypeError("x")])]), Problem("line\n\x1b[31mred\u202e"),
    StopAsyncIteration("no stop"), ZeroDivisionError("division by zero"), AssertionError(), Problem(b"bytes"),
)  # fmt: skip


async def main():
    coroutines = [fails(exception) for exception in PLAIN]
    coroutines += [fails_deep(Problem("deep"), 20), fails_in_a_function(), fails_from(), fails_while_handling()]
    coroutines += [fails_suppressed(), fails_in_a_group(), fails_in_a_circle(), fails(chain_of(10))]
    oracle.failed += [asyncio.create_task(coroutine) for coroutine in coroutines]
    retrieved = asyncio.create_task(fails(Problem("retrieved")))
    pure = asyncio.tasks._PyTask(fails_from())  # made by asyncio's Python code
    oracle.failed += [retrieved, pure]
    await asyncio.wait(oracle.failed)
    retrieved.exception()
    await asyncio.create_task(oracle.stop_after_this())


asyncio.run(main())
