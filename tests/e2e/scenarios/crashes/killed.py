"""A child whose loop waits is sent a signal by its parent, which waits for it to die."""

import asyncio
import os
import signal
import sys
import time

from crash_oracle import dies


def say():
    # One line, so that it is the same when it is written down and when the process dies.
    return dies(sys._getframe(), "SIGQUIT"), os.kill(os.getppid(), signal.SIGUSR1), time.sleep(1000)


async def main():
    say()


signal.signal(signal.SIGUSR1, lambda *_: os.kill(child, signal.SIGQUIT))
child = os.fork()
if child == 0:
    asyncio.run(main())
os.wait()
os._exit(0)
