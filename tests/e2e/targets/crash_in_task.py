"""A task that ends its process in the way that its arguments say, after a line on standard output."""

import asyncio
import ctypes
import faulthandler
import os
import signal
import sys


async def worker(how, number):
    print("ready", flush=True)
    if how == "segfault":
        ctypes.string_at(0)
    elif how == "abort":
        os.abort()
    elif how == "hang":
        await asyncio.Event().wait()
    elif how == "survive":
        os.kill(os.getpid(), signal.SIGSEGV)
        print("alive", flush=True)
    sys.exit(number)


async def main():
    how, number = sys.argv[1], int(sys.argv[2])
    if how == "segfault":
        faulthandler.enable()
    if how == "survive":
        signal.signal(signal.SIGSEGV, lambda *_: None)
    await asyncio.create_task(worker(how, number), name=f"{how}-worker")


asyncio.run(main())
