"""Both ends of the list of tasks are overwritten: its tasks are found among all objects, or through one another."""

import asyncio
import ctypes

import oracle

NODE = 152  # of task_node in TaskObj, with the GIL
TYPE = 8  # of ob_type


def word(address):
    return ctypes.c_size_t.from_address(address)


def head_of_list(task):
    """Where the nodes before this task's lead: what is no task's node is the head."""
    node = id(task) + NODE
    while word(node - NODE + TYPE).value == id(asyncio.Task):
        node = word(node + 8).value
    return node


async def waits(future):
    await future


async def ended():
    pass


async def main():
    future = asyncio.get_running_loop().create_future()
    first = asyncio.create_task(waits(future), name="first")
    oracle.keep += [first, asyncio.create_task(waits(first), name="second"), asyncio.create_task(ended(), name="ended")]
    oracle.keep += [asyncio.create_task(waits(future), name=f"other {number}") for number in range(10)]
    head = head_of_list(first)

    def damage():
        word(head).value = 0x10
        word(head + 8).value = 0

    oracle.damage = damage
    await oracle.stop_after_this()


asyncio.run(main())
