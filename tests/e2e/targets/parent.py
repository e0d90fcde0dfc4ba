"""
A program that waits for its children: parent.py hang|crash FOLDER.

hang: two processes of multiprocessing with a task each that waits for ever, and a `sleep`. crash: a child whose task dies of
SIGSEGV in FOLDER; the parent takes no notice.
"""

import asyncio
import ctypes
import multiprocessing
import os
import subprocess
import sys


async def job(how):
    if how == "crash":
        ctypes.string_at(0)
    await asyncio.Event().wait()


async def main(how, number):
    await asyncio.create_task(job(how), name=f"job-{number}")


def child(how, folder, number):
    os.chdir(folder)
    asyncio.run(main(how, number))


if __name__ == "__main__":
    how, folder = sys.argv[1:]
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=child, args=(how, folder, number)) for number in range(2 if how == "hang" else 1)]
    for each in children:
        each.start()
    if how == "hang":
        subprocess.Popen(["sleep", "1000"])
    for each in children:
        each.join()
    print("joined", [each.exitcode for each in children], flush=True)
