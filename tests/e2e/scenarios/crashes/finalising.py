"""A destructor in C writes nowhere while the interpreter is being finalised: a module's variable goes."""

import asyncio

from crash_oracle import crash, dies


class Last:
    """Lives as long as the module."""

    def __init__(self):
        self.bomb = crash.Bomb(1)


async def main():
    await asyncio.sleep(0)


asyncio.run(main())
dies(None, "SIGSEGV", inside=["write_nowhere", "bomb_dealloc", "Py_RunMain"])
last = Last()
