"""Task names that hold secrets, and others that only look a little like it."""

import asyncio

import oracle

NAMES = [
    "fetch https://user:hunter2secret@example.com/path",
    "login password=hunter2secret",
    "--token=hunter2secret",
    "Authorization: Bearer hunter2secret.hunter2secret.hunter2secret",
    "token of the ring",
    "fetch https://example.com/path",
]


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        for name in NAMES:
            group.create_task(sleeps(), name=name)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
