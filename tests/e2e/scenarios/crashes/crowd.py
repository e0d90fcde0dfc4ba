"""The main thread dies in a C extension while other threads wait: three at the same place, one elsewhere, two in C code alone."""

import asyncio
import sys
import threading

from crash_oracle import crash, dies

event = threading.Event()
here = threading.Barrier(5)


def waits():
    here.wait()
    event.wait()


def waits_elsewhere():
    here.wait()
    event.wait()


async def main():
    for target in (waits, waits, waits, waits_elsewhere):
        threading.Thread(target=target, daemon=True).start()
    crash.start_native_thread()
    crash.start_native_thread()
    here.wait()
    await asyncio.sleep(0.2)  # they have come to rest
    crash.segfault(*dies(sys._getframe(), "SIGSEGV", inside=["write_nowhere", "segfault"]))


asyncio.run(main())
