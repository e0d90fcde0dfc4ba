"""
Line tables: code without a line (`lineno` removed from every instruction), a table of more than 64 KiB, a line above 16
bits, a first line moved far away.
"""

import asyncio

import oracle

SOURCE = "async def {name}(sleep):\n{body}    await sleep(1000)\n"


async def sleeps():
    await asyncio.sleep(1000)


def make(name, body="", first_line=1):
    """A coroutine function with this body before its await."""
    namespace = {}
    exec(compile("\n" * (first_line - 1) + SOURCE.format(name=name, body=body), f"/made/{name}.py", "exec"), namespace)
    return namespace[name]


def without_lines(function):
    """The same function whose line table is entries of code 15 ("no location"), eight code units each, and nothing else."""
    units = len(function.__code__.co_code) // 2
    table = b"\xff" * (units // 8) + (bytes([0x80 | 15 << 3 | units % 8 - 1]) if units % 8 else b"")
    function.__code__ = function.__code__.replace(co_linetable=table)
    return function


async def main():
    functions = [
        without_lines(make("no_line")),
        make("long_table", "    x = [" + "f(1, 2),\n" * 20_000 + "] if 0 > sleep.__code__.co_argcount else 0\n"),
        make("far_line", first_line=1_000_000),
        make("backwards", "    x = (1,\n\n\n" + "\n" * 500 + "         sleep(1000).close())\n"),
    ]
    async with asyncio.TaskGroup() as group:
        for function in functions:
            group.create_task(function(asyncio.sleep), name=function.__name__)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
