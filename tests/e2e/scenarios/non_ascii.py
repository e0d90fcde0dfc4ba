"""Functions and files with names in Latin-1, in two bytes and in four bytes a character."""

import asyncio

import oracle

NAMES = ["très_café", "задача_任務", "𝓽𝓪𝓼𝓴"]


async def main():
    async with asyncio.TaskGroup() as group:
        for name in NAMES:

            async def function():
                await asyncio.sleep(1000)

            function.__code__ = function.__code__.replace(co_qualname=f"{name}.{name}", co_filename=f"/répertoire/{name} 🐍.py")
            group.create_task(function(), name=name)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
