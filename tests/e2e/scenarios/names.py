"""
Task names: the number of a default name, and strings of every kind that CPython has.

Latin-1, two and four bytes a character, lone surrogate, empty, 100,000 characters, a subclass of str (which set_name()
keeps), quotes, an int given as a name.
"""

import asyncio

import oracle


class Text(str):
    pass


NAMES = [
    "plain",
    "",
    "naïve café",
    "задача 任務",
    "🐍 and 🧵",
    "lone \udc80 surrogate",
    "x" * 100_000,
    "long 🐍" * 2000,
    "it's",
    'say "it\'s"',
    "back\\slash",
    Text("subclass of str"),
    Text("subclass, wide 任務"),
    12345678901234567890123,
    -7,
]


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    tasks = [asyncio.create_task(sleeps(), name=name) for name in NAMES]
    tasks += [asyncio.create_task(sleeps()) for _ in range(3)]
    oracle.keep.append(tasks)
    await oracle.stop_after_this()


asyncio.run(main())
