"""
Names made to deceive: a terminal escape sequence, newlines with a forged task, bidirectional controls, quotes, tabs and
NUL in qualname, task name, file name and class name.
"""

import asyncio

import oracle

HOSTILE = {
    "escape": "\x1b[31mred\x1b[0m\x07",
    "c1": "\x9b31m\x85",
    "forged": "a()\n* Task(name='forged', id=0x1)\n  + Call stack:\n  |   File 'x', line 1, in async ",
    "bidi": "\u202eevil\u202c \u2066x\u2069 \u200f",
    "quotes": "'\"`$(id)\\",
    "controls": "\t\r\b\x00\x7f",
    "separators": "\u2028\u2029\ufeff\u00ad",
    "surrogate": "\udc80\ud800",
}


class Loop(asyncio.SelectorEventLoop):
    pass


class Awaitable:
    """Its own iterator."""

    def __await__(self):
        self.iterator = iter(asyncio.get_running_loop().create_future())
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.iterator)


Loop.__name__ = "\x1b[31mloop"
Awaitable.__name__ = "\u202e* Task(name='\n')"


async def awaits():
    await Awaitable()


async def main():
    async with asyncio.TaskGroup() as group:
        for kind, text in HOSTILE.items():

            async def function():
                await asyncio.sleep(1000)

            # A file name cannot hold a lone surrogate or NUL on any system, but a code object's can.
            function.__code__ = function.__code__.replace(co_qualname=f"q {text}", co_filename=f"/f {text}")
            group.create_task(function(), name=f"n {text}")
        group.create_task(awaits(), name="class name")
        group.create_task(oracle.stop_after_this())


asyncio.run(main(), loop_factory=Loop)
