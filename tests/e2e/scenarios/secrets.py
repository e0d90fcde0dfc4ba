"""Task names that hold secrets, and others that only look a little like it. What may be shown of each stands beside it."""

import asyncio

import oracle

NAMES = {
    "fetch https://user:hunter2secret@example.com/path": "fetch https://<redacted>@example.com/path",
    "login password=hunter2secret": "login password=<redacted>",
    "--token=hunter2secret": "--token=<redacted>",
    "Authorization: Bearer hunter2secret.hunter2secret.hunter2secret": "Authorization: <redacted>",
    "token of the ring": "token of the ring",
    "fetch https://example.com/path": "fetch https://example.com/path",
}


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        for name, shown in NAMES.items():
            oracle.expect(group.create_task(sleeps(), name=name), shown=shown)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
