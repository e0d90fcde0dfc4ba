"""
A task that waits for a child process which has ended: its loop is kept from noticing. Of a core nobody can tell. Near miss:
a child that runs.
"""

import asyncio
import os
from asyncio.subprocess import PIPE

import oracle


async def waits(process):
    await process.wait()


async def main():
    loop = asyncio.get_running_loop()
    gone = await asyncio.create_subprocess_exec("cat", stdin=PIPE)
    runs = await asyncio.create_subprocess_exec("cat", stdin=PIPE)
    task = asyncio.create_task(waits(gone), name="gone")
    asyncio.create_task(waits(runs), name="runs")

    def finish():
        if loop._ready:
            loop.call_soon(finish)
            return
        gone.kill()
        os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
        if oracle.MODE == "live":
            oracle.finding("child-gone", [task], [gone._transport])
        oracle.stop()

    loop.call_soon(finish)
    await loop.create_future()


asyncio.run(main())
