"""
Tasks in the main interpreter and in a sub-interpreter, which blocks inside a task in a thread of its own.

CPython's own reader looks at the newest interpreter only. The sub-interpreter writes its part of the oracle's answer itself.
"""

import _interpreters
import asyncio
import os
import sys
import threading
import time

import oracle

SUB = f"""
import asyncio, os, sys
sys.argv, sys.path = {sys.argv}, {sys.path}
import oracle

async def sleeps():
    await asyncio.sleep(1000)

async def main():
    oracle.interpreter, oracle.texts = 1, False
    oracle.register()
    task = asyncio.create_task(sleeps(), name="sub sleeps")
    await asyncio.sleep(0)
    os.read(oracle.write(sys._getframe(), never), 1)

asyncio.run(main())
"""


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), name="main sleeps")
        group.create_task(oracle.stop_after_this())


oracle.texts = False
never, _ = os.pipe()
sub = _interpreters.create("isolated")
threading.Thread(target=_interpreters.exec, args=(sub, SUB, {"never": never}), daemon=True).start()
while not os.path.exists(oracle.OUTPUT):
    time.sleep(0.01)
time.sleep(0.05)  # until it blocks
asyncio.run(main())
