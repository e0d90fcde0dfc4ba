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


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell has what runs in the background ignore it
child = os.fork()
if child == 0:
    asyncio.run(main())
signal.sigwait({signal.SIGUSR1})
time.sleep(0.2)  # it sleeps
os.kill(child, signal.SIGQUIT)
os.wait()
os._exit(0)
