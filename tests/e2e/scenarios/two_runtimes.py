"""
A second copy of CPython in the process: libpython, loaded by ctypes and never started.

It has a _PyRuntime of its own, without interpreters. Where the root has no libpython of the same build, another
version's is loaded.
"""

import asyncio
import ctypes
import glob
import sys

import oracle

libraries = glob.glob("/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0")
own = [path for path in libraries if f"python{sys.version_info[0]}.{sys.version_info[1]}{sys.abiflags}.so" in path]
ctypes.CDLL((own or sorted(libraries))[0])


async def sleeps():
    await asyncio.sleep(1000)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(), name="sleeps")
        group.create_task(oracle.stop_after_this())


asyncio.run(main())
