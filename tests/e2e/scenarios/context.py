"""Context variables: none, a few, so many that the trie has nodes of every type, and one that was set back."""

import asyncio
import contextvars

import oracle

request_id = contextvars.ContextVar("request_id")
user = contextvars.ContextVar("user", default="nobody")
reset = contextvars.ContextVar("reset")
odd = contextvars.ContextVar("naïve\n\x1b[31m")
twin = contextvars.ContextVar("user")
many = [contextvars.ContextVar(f"variable {n}") for n in range(300)]

oracle.values = repr
oracle.contexts = True


async def sleeps():
    await asyncio.sleep(1000)


async def few(number):
    request_id.set(number)
    user.set({"name": f"user {number}"})
    token = reset.set(1)
    reset.reset(token)
    odd.set(None)
    twin.set([number])
    await sleeps()


async def full():
    for n, variable in enumerate(many):
        variable.set(n)
    await sleeps()


async def inherits():
    """The context of a task is a copy of its creator's."""
    request_id.set("outer")
    await asyncio.create_task(sleeps())


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), context=contextvars.Context())
        group.create_task(few(1))
        group.create_task(few(2))
        group.create_task(full())
        group.create_task(inherits())
        await asyncio.sleep(0.01)
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
