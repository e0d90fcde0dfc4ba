"""A C extension uses the interpreter after it has given back the GIL: a fatal error, in a task."""

import asyncio
import sys

from crash_oracle import crash, dies


async def main():
    inside = ["abort", "fatal_error_exit", "without_gil"]
    crash.without_gil(*dies(sys._getframe(), "SIGABRT", inside=inside))


asyncio.run(main(), debug=False)
