"""A C extension uses the interpreter after it has given back the GIL: a fatal error, in a task."""

import asyncio
import sys

import crash
import crash_oracle


async def main():
    inside = ["abort", "fatal_error_exit", "without_gil"]
    crash.without_gil(*crash_oracle.dies(sys._getframe(), "SIGABRT", inside=inside))


asyncio.run(main(), debug=False)
