"""
The in-process oracle of greenlets: each as greenlet itself describes it, written down just before the process stops.

A scenario is run as `NAME.py core|live OUTPUT` and calls stop(), which writes OUTPUT (JSON) and then dies by abort() or, live, says
"ready" and waits for the end of its standard input. It does not import asyncio: greenlets are found without it.

Stacks follow gr_frame and f_back. What cannot be asked is stated by the scenario: expect(). (To ask a greenlet whose thread has
exited would change it, and no attribute tells where C code stands between two frames.)
"""

import gc
import json
import os
import platform
import sys
import threading
import traceback
import types

import greenlet

MODE, OUTPUT = sys.argv[1:3]

keep = []  # what must stay alive until the end
unlisted = []  # greenlets that gc.get_objects() does not tell
expected = {}  # id of a greenlet: fields that the scenario states itself
damage = []  # functions that are called when everything has been written
extra = {}  # more members of the document
native_ids = {}  # id of a main greenlet: native id of its thread
current = {}  # native id: the greenlet that its thread runs

KINDS = {
    types.CoroutineType: "coroutine",
    types.GeneratorType: "generator",
    types.AsyncGeneratorType: "async generator",
}
# Awaitables that do not tell what they are around.
WRAPPERS = ("coroutine_wrapper", "async_generator_asend", "anext_awaitable")
IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def expect(thing, **fields):
    """State the truth about a greenlet."""
    expected.setdefault(id(thing), {}).update(fields)
    return thing


def register():
    """Make the calling thread, and the greenlet that it runs, known."""
    main = running = greenlet.getcurrent()
    while main.parent is not None:
        main = main.parent
    native_ids[id(main)] = threading.get_native_id()
    current[threading.get_native_id()] = running


def stop():
    """Write everything down, then die (core) or wait (live). Does not return."""
    end, arguments = (os.abort, ()) if MODE == "core" else (os.read, (0, 1))
    try:
        register()
        # One line, so that this frame's line is the same when it is written down and when the process stops.
        end(*write(sys._getframe(), arguments))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def write(frame, result=None):
    """Write what is true now to OUTPUT. @p frame is the calling thread's innermost frame. Returns @p result."""
    threads = {thread.ident: thread.native_id for thread in threading.enumerate()}
    innermost = sys._current_frames() | {threading.get_ident(): frame}
    frames = {threads[ident]: list(inner_to_outer(top)) for ident, top in innermost.items()}
    document = {
        "pid": os.getpid(),
        "python": platform.python_version(),
        "greenlets": [entry(thing, frames) for thing in all_greenlets()],
        "threads": [thread_entry(native_id, stack) for native_id, stack in frames.items()],
        **extra,
    }
    with open(OUTPUT + ".new", "w") as file:
        file.write(json.dumps(document))
    os.rename(OUTPUT + ".new", OUTPUT)
    for function in damage:
        function()
    if MODE == "live":
        print("ready", flush=True)
    return result


def all_greenlets():
    """gc.get_objects() leaves out what gc.freeze() has put aside; what was kept is there, and its parents."""
    found = {id(thing): thing for thing in [*gc.get_objects(), *keep, *unlisted] if isinstance(thing, greenlet.greenlet)}
    for thing in [*found.values()]:
        while thing is not None:
            found[id(thing)] = thing
            thing = thing.parent
    return found.values()


def address(thing):
    return None if thing is None else f"{id(thing):#x}"


def type_name(thing):
    """tp_name: with the module for a type made in C (they are immutable), without for one made by a class statement."""
    cls = type(thing)
    if cls is greenlet.greenlet:
        return "greenlet.greenlet"
    return f"{cls.__module__}.{cls.__name__}" if cls.__flags__ & IMMUTABLE else cls.__name__


def entry(thing, frames):
    known = expected.get(id(thing), {})
    result = {"id": address(thing), "type": type_name(thing), "parent": address(thing.parent), "main": thing.parent is None}
    if "state" not in known:
        thread = thread_of(thing)
        running = thread is not None and current.get(thread) is thing
        # gevent's own __bool__() is true before a greenlet has started.
        started, ended = greenlet.greenlet.__bool__(thing), greenlet.greenlet.dead.__get__(thing)
        result["state"] = "running" if running else "suspended" if started else "dead" if ended else "pending"
        result["thread"] = thread if started or ended else None
        stack = frames[thread] if running else inner_to_outer(thing.gr_frame)
        result["stack"] = [frame_entry(frame) for frame in stack]
        result["awaited_by"] = [{"id": address(parent), "how": "parent"} for parent in returns_to(thing) if started]
    return result | known


def returns_to(thing):
    """The greenlet that goes on when this one ends, if it does not run already. A gevent Hub waits for none of its children."""
    parent = thing.parent
    while parent is not None and greenlet.greenlet.dead.__get__(parent):
        parent = parent.parent
    suspended = parent is not None and current.get(thread_of(parent)) is not parent
    return [parent] if suspended and type(parent).__name__ != "Hub" else []


def bridged(tasks, through=None):
    """
    Write down each task's frames, innermost first, with the greenlets that they belong to.

    @p through is the function of a coroutine that goes on in a greenlet: its variable that is this greenlet.
    """
    extra["tasks"] = [bridged_entry(task, {"greenlet_spawn": "context", **(through or {})}) for task in tasks]


def bridged_entry(task, through):
    entries, greenlets, awaitable = [], [], task.get_coro()
    while awaitable is not None:
        while type(awaitable).__name__ in WRAPPERS:
            awaitable = gc.get_referents(awaitable)[0]
        prefix = next((each for each in ("cr", "gi", "ag") if hasattr(awaitable, f"{each}_frame")), None)
        frame = prefix and getattr(awaitable, f"{prefix}_frame")
        if frame is None:
            break
        entries.append(frame_entry(frame))
        greenlets.append(None)
        awaitable = getattr(awaitable, "gi_yieldfrom" if prefix == "gi" else f"{prefix}_await")
        inner = frame.f_locals.get(through.get(frame.f_code.co_name))
        if inner is None or frame.f_locals.get("yielded", True) is None:
            continue
        inside = list(inner_to_outer(inner.gr_frame))
        entries += map(frame_entry, reversed(inside))
        greenlets += [address(inner)] * len(inside)
        if prefix == "gi":
            awaitable = inside[0].f_locals["coroutine"]
    return {"name": task.get_name(), "stack": entries[::-1], "greenlets": greenlets[::-1] if any(greenlets) else None}


def thread_of(thing):
    while thing.parent is not None:
        thing = thing.parent
    return native_ids.get(id(thing))


def thread_entry(native_id, stack):
    """A thread's frames end where its greenlet began; then come those of the greenlets that it will return to."""
    running = current.get(native_id)
    stack = [frame_entry(frame) for frame in stack]
    parent = running.parent if running is not None else None
    while parent is not None:
        stack += [frame_entry(frame) for frame in inner_to_outer(parent.gr_frame)]
        parent = parent.parent
    return {"native_id": native_id, "greenlet": address(running), "stack": stack}


def inner_to_outer(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def frame_entry(frame):
    code = frame.f_code
    kind = KINDS.get(type(frame.f_generator), "function")
    return {"function": code.co_qualname, "file": code.co_filename, "line": frame.f_lineno, "kind": kind}
