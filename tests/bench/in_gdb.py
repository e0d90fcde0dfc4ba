"""The part of the benchmark that runs inside GDB: one measurement of one fresh session, its result as one line of JSON.

The environment variable BENCH says what: "read" for a plain read of the whole core, else a command line.
"""

import json
import os
import pathlib
import re
import time

import gdb

BLOCK = 64 * 1024
# maint info sections:  [7]  0x00400000->0x00401000 at 0x00007000: load1a ALLOC LOAD READONLY HAS_CONTENTS
SEGMENT = re.compile(r"^ *\[\d+\] +0x([0-9a-f]+)->0x([0-9a-f]+) at 0x[0-9a-f]+: load\d+[a-z]? .*\bLOAD\b", re.M)
RESIDENT = re.compile(r"^VmHWM:\s*(\d+) kB", re.M)
PEAK = re.compile(r"library memory: (\d+) bytes")
FINDINGS = re.compile(r"(\d+) us for findings")


class Clock:
    """The time since now: by the wall, and of the processor in this thread (GDB reads symbols in others)."""

    def __init__(self) -> None:
        self._begin = time.perf_counter(), time.thread_time()

    def read(self) -> dict:
        return {"seconds": time.perf_counter() - self._begin[0], "cpu": time.thread_time() - self._begin[1]}


def read_core() -> dict:
    sections = gdb.execute("maint info sections", to_string=True)
    segments = [(int(start, 16), int(end, 16)) for start, end in SEGMENT.findall(sections)]
    read_memory = gdb.selected_inferior().read_memory
    clock = Clock()
    for start, end in segments:
        for address in range(start, end, BLOCK):
            read_memory(address, min(BLOCK, end - address))
    return clock.read()


def run(command: str) -> dict:
    # What Python loads and makes at the first command is its start, which is measured in the same way for asyncio ps.
    gdb.execute(command.split()[0] + " --help", to_string=True)
    clock = Clock()
    text = gdb.execute(command, to_string=True)
    times = clock.read()
    status = pathlib.Path("/proc/self/status").read_text()
    resident = int(RESIDENT.search(status)[1]) * 1024
    # The same session, so its peak is that of the command: py-async-info adds next to nothing, and prints it after JSON too.
    stats = gdb.execute("py-async-info --memory-stats", to_string=True)
    findings = int(FINDINGS.search(stats)[1]) / 1e6
    return {**times, "text": text, "library": int(PEAK.search(stats)[1]), "resident": resident, "findings": findings}


print("\n" + json.dumps(read_core() if os.environ["BENCH"] == "read" else run(os.environ["BENCH"])))
