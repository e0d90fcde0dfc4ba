"""
The in-process oracle of crashes: where the dying thread's Python code stands, written down just before it dies.

A scenario is run as `NAME.py core OUTPUT`. It calls dies(), in the line that kills it:

    crash.segfault(*dies(sys._getframe(), …))

Python tells the frames of the thread. Where C code stands between them it does not: the scenario states it, as names of C functions
of which each stands inside of the Python function it is given with. Who waits for the task that dies is asked of asyncio.
"""

import asyncio
import json
import os
import pathlib
import platform
import sys
import threading
import types

OUTPUT = sys.argv[2]

# The extension crash.c, compiled for this version; debug builds import that of the release.
sys.path.append(str(pathlib.Path(__file__).parents[2] / "extensions" / f"python3.{sys.version_info.minor}"))

import crash  # noqa: E402, F401 (for the scenarios)

os.environ["PYTEST_CURRENT_TEST"] = "tests/test_orders.py::test_refund[eur] (call)"
os.environ["PYTEST_XDIST_WORKER"] = "gw3"
os.environ["DATABASE_PASSWORD"] = "never-to-be-seen-7f3a"

KINDS = {
    types.CoroutineType: "coroutine",
    types.GeneratorType: "generator",
    types.AsyncGeneratorType: "async generator",
}


def dies(frame, signal, inside=(), called_by=None, more=()):
    """
    Write the truth about the calling thread, whose innermost frame is @p frame and which dies of @p signal, and return no
    arguments.

    @p inside are the C functions that are called by the innermost frame, innermost first; @p called_by maps a Python
    function to the C functions that call it, likewise. @p more are frames further outward, which no frame of the thread
    leads to.
    """
    task = asyncio.current_task() if asyncio._get_running_loop() else None
    frames = [*inner_to_outer(frame), *more]
    document = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "python": platform.python_version(),
        "signal": signal,
        "native_id": threading.get_native_id(),
        "task": None if task is None else f"{id(task):#x}",
        "awaited_by": awaiters(task),
        "stack": [entry(frame) for frame in frames],
        "inside": list(inside),
        "called_by": {key: list(names) for key, names in (called_by or {}).items()},
        "arguments": sys.orig_argv,
    }
    with open(OUTPUT + ".new", "w") as file:
        file.write(json.dumps(document))
    os.rename(OUTPUT + ".new", OUTPUT)
    return ()


def inner_to_outer(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def entry(frame):
    return {
        "function": frame.f_code.co_qualname,
        "file": frame.f_code.co_filename,
        "line": frame.f_lineno,
        "kind": KINDS.get(type(frame.f_generator), "function"),
    }


def awaiters(task):
    """The names of the tasks that wait for a task, and those that wait for them: of each the first."""
    names = []
    while task is not None and (waiters := list(getattr(task, "_asyncio_awaited_by", None) or ())):
        (task,) = waiters
        names.append(task.get_name() if isinstance(task, asyncio.Task) else "future")
    return names
