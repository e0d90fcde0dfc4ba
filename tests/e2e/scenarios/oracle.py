"""
The in-process oracle: a scenario's tasks as asyncio and the interpreter themselves describe them, written down just
before the process stops.

A scenario is run as `NAME.py core|live OUTPUT`. It builds its tasks and calls stop(), which writes OUTPUT (JSON, see
write()) and then dies by abort() or, live, says "ready" and waits for the end of its standard input. What the reader
outside must find is then exactly what stands in OUTPUT.

Looking must not change what is looked at: get_name() would replace a default name's number by a string, so names are
read without it and asyncio's own text comes from a forked child. stop() itself is part of what is expected: it is the
innermost frame of the thread that calls it.

Nothing here is computed from what pyasync prints. Stacks of suspended tasks follow cr_await, gi_yieldfrom and ag_await,
and, through wrappers that have no such attribute, what the garbage collector says they refer to; where asyncio's own
answer goes that far, the two are compared in the child. An object that is no coroutine is followed to the only coroutine
among its attributes, if there is one.
"""

import asyncio
import functools
import gc
import inspect
import json
import os
import platform
import signal
import sys
import threading
import traceback
import types

MODE, OUTPUT = sys.argv[1:3]

interpreter = 0  # a scenario sets it in a sub-interpreter
texts = True  # ask asyncio for its own text; a process with sub-interpreters cannot fork for it
lengths = False  # also ask how many frames asyncio's own answer has; it takes for ever where many wait for many
loops = {}  # loop: native id of the thread that runs it; None: that thread has ended
values = None  # a function that tells how a value is shown: then the variables of the scenario's frames are written down
contexts = False  # write down the context variables of each task, as values tells
failed = []  # failed tasks whose exceptions are written down
notes = {}  # what else the scenario states, as it is
keep = []  # what must stay alive until the end
compiled_files = {}  # qualified name of an async generator compiled by Cython: its file
frozen = []  # tasks that gc.freeze() has hidden from gc.get_objects()
damage = None  # a function that breaks something when all has been written down
expected = {}  # task: fields that the scenario states itself, because asking asyncio would not tell the truth
blocked = {}  # native id of a thread: what it is blocked in, as the scenario has arranged it
findings = []  # what is certainly wrong, as the scenario has arranged it
derived = {}  # task or future: who awaits it as the scenario knows, though asyncio does not record it

# The class in C, where that is not blocked.
C_TASK = getattr(sys.modules.get("_asyncio"), "Task", ())

KINDS = {
    types.CoroutineType: "coroutine",
    types.GeneratorType: "generator",
    types.AsyncGeneratorType: "async generator",
}

# The types of Cython in the same words.
KINDS_OF_CYTHON = {
    "coroutine": "coroutine",
    "iterable_coroutine": "coroutine",
    "generator": "generator",
    "async_generator": "async generator",
}

# Awaitables without a frame or an attribute for what they await: the first object that they refer to.
WRAPPERS = {"async_generator_asend", "async_generator_athrow", "anext_awaitable", "coroutine_wrapper"}

# What is awaited, by coroutines and generators of Python and of Cython.
AWAITED = ("cr_await", "gi_yieldfrom", "ag_await")

IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE

# So many tasks are asked for asyncio's own text, in which so many tasks may wait; it takes too long for more.
MAX_TEXTS = 100


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


def stop_when_idle():
    """stop(), from a callback of the running loop, when all its tasks have come to rest."""
    loop = asyncio.get_running_loop()
    if loop._ready:
        loop.call_soon(stop_when_idle)
    else:
        stop()


async def stop_after_this():
    """Wait for ever, after seeing to it that the process stops when the other tasks do the same."""
    asyncio.get_running_loop().call_soon(stop_when_idle)
    await asyncio.get_running_loop().create_future()


def register():
    """Make the loop that runs in this thread known to the oracle."""
    loop = asyncio._get_running_loop()
    if loop is not None:
        loops[loop] = threading.get_native_id()


def expect(task, **fields):
    """State the truth about a task, for what cannot be asked."""
    expected.setdefault(task, {}).update(fields)


def expect_derived(future, *waiters):
    """State who awaits a task or future, where asyncio records nothing because one of the two is none of its C code."""
    derived.setdefault(future, []).extend(waiters)


def finding(kind, tasks, things=()):
    """State that this is to be found; all scenarios that do not are to be found in order."""
    findings.append({"kind": kind, "tasks": [address(task) for task in tasks], "objects": [address(thing) for thing in things]})


def tasks_of(loop):
    """All tasks of a loop: asyncio.all_tasks() knows those of its C code and registered ones, or those of its Python code."""
    return asyncio.all_tasks(loop) | asyncio.tasks._py_all_tasks(loop)


def current_task(loop):
    return asyncio.current_task(loop) or asyncio.tasks._py_current_task(loop)


def write(frame, result=None):
    """
    Write what is true now to OUTPUT, adding to what another interpreter has written there.

    @p frame is the calling thread's innermost frame. Returns @p result.
    """
    threads = thread_frames(frame)
    on_stack = running_stacks(threads)
    tasks = {task: loop for loop in loops for task in tasks_of(loop)}
    document = {
        "pid": os.getpid(),
        "python": platform.python_version(),
        "debug_build": hasattr(sys, "gettotalrefcount"),
        "tasks": [task_entry(task, loop, on_stack) for task, loop in tasks.items()],
        "accelerator": C_TASK != (),
        "ended": [ended_entry(task) for task in ended_tasks()],
        "futures": [future_entry(future) for future in awaited_futures(tasks)],
        "failed": [failed_entry(task) for task in failed],
        "loops": [loop_entry(loop, threads) for loop in loops],
        "threads": [thread_entry(*thread) for thread in threads.items()],
        "findings": findings,
    }
    if notes:
        document["notes"] = notes
    if texts:
        add_texts(document, tasks, on_stack)
    if os.path.exists(OUTPUT):
        with open(OUTPUT) as file:
            for key, value in json.load(file).items():
                if isinstance(value, list):
                    document[key] += value
    with open(OUTPUT + ".new", "w") as file:
        file.write(json.dumps(document))  # dump() is much slower
    os.rename(OUTPUT + ".new", OUTPUT)
    if damage:
        damage()
    if MODE == "live" and interpreter == 0:
        print("ready", flush=True)
    return result


def address(thing):
    return f"{id(thing):#x}"


def type_name(thing):
    """tp_name: with the module for a type made in C (they are immutable), without for one made by a class statement."""
    cls = type(thing)
    in_module = cls.__flags__ & IMMUTABLE and cls.__module__ != "builtins"
    return f"{cls.__module__}.{cls.__name__}" if in_module else cls.__name__


def task_entry(task, loop, on_stack):
    coroutine = task.get_coro()
    stack, objects = on_stack.get(task) or suspended_stack(coroutine)
    waits_on = getattr(task, "_fut_waiter", None)
    if task in on_stack:
        activity = "running" if current_task(loop) is task else "executing"
    elif is_created(coroutine):
        activity = "created"
    else:
        activity = "ready" if waits_on is None or waits_on.done() else "waiting"
    entry = {
        "id": address(task),
        "name": name_of(task),
        "type": type_name(task),
        "state": state_of(task),
        "activity": activity,
        "cancel_requests": task.cancelling() if hasattr(task, "cancelling") else 0,
        "must_cancel": getattr(task, "_must_cancel", False),
        "thread": loops[loop],
        "interpreter": interpreter,
        "loop": address(loop),
        "stack": stack,
        "objects": objects,
        "derived_stack": "awaitable" in [frame["kind"] for frame in stack[1:]],
        "future": None if waits_on is None else address(waits_on),
        **awaiters(task),
    }
    if contexts:
        entry["context"] = [value_entry(value) | {"name": variable.name} for variable, value in task.get_context().items()]
    if isinstance(task, asyncio.Task) and task._source_traceback:
        created = [{"function": item.name, "file": item.filename, "line": item.lineno} for item in task._source_traceback]
        entry["source_traceback"] = created[::-1]
    return entry | expected.get(task, {})


def ended_entry(task):
    return {"id": address(task), "name": name_of(task), "type": type_name(task), "state": state_of(task), "activity": "ended"}


def future_entry(future):
    return {"id": address(future), "type": type_name(future), "state": state_of(future), **awaiters(future)}


def loop_entry(loop, threads):
    frames = [] if loops[loop] is None or not loop.is_running() else threads.get(loops[loop], [])
    run_once = next((f for f in frames if f.f_code.co_qualname == "BaseEventLoop._run_once" and f.f_locals["self"] is loop), None)
    if loop.is_closed():
        state = "closed"
    elif not loop.is_running() or loops[loop] is None:
        state = "not running"
    elif current_task(loop):
        state = "task"
    elif not isinstance(loop, asyncio.BaseEventLoop):
        state = "running"  # a loop that is no Python code: what it does is not to be seen
    else:
        state = "callback" if "handle" in run_once.f_locals else "select"
    timers = [handle for handle in getattr(loop, "_scheduled", ()) if not handle._cancelled]
    return {
        "id": address(loop),
        "type": type_name(loop),
        "state": state,
        "thread": loops[loop],
        "ready": len(loop._ready) if hasattr(loop, "_ready") else None,
        "scheduled": len(timers) if hasattr(loop, "_scheduled") else None,
        "signal_handlers": [signal.Signals(number).name for number in sorted(getattr(loop, "_signal_handlers", ()))],
        "callback": callback_name(run_once.f_locals["handle"]._callback) if state == "callback" else None,
        "next_when": min(handle.when() for handle in timers) if timers else None,
        "last_look": last_look(loop, run_once),
        "written": loop.time(),
        "monotonic": type(loop).time is asyncio.BaseEventLoop.time,
    }


def callback_name(callback):
    while isinstance(callback, functools.partial):
        callback = callback.func
    return callback.__qualname__ if hasattr(callback, "__code__") or hasattr(callback, "__func__") else callback.__name__


def last_look(loop, run_once):
    """When the loop looked at its clock last, as far as its frame tells; None if it does not."""
    values = run_once.f_locals if run_once else {}
    if "end_time" in values:
        return values["end_time"]
    return loop._scheduled[0].when() - values["timeout"] if isinstance(values.get("timeout"), float) else None


def thread_entry(native_id, frames):
    loop = next((loop for loop in loops if loops[loop] == native_id and loop.is_running()), None)
    task = current_task(loop) if loop else None
    return {
        "native_id": native_id,
        "interpreter": interpreter,
        "loop": address(loop) if loop else None,
        "task": address(task) if task else None,
        "stack": [frame_entry(frame, frame.f_generator) for frame in frames],
        **({"blocked": blocked[native_id]} if native_id in blocked else {}),
    }


def name_of(task):
    """The name, without get_name(), which would turn the number of a default name into a string for good."""
    if isinstance(task, C_TASK) and not task.done():
        for thing in gc.get_referents(task):
            if type(thing) is int:
                return f"Task-{thing}"
    return task.get_name()


def state_of(future):
    if not future.done():
        return "pending"
    if future.cancelled():
        return "cancelled"
    return "failed" if future._exception else "done"  # exception() would note that it was asked for


def awaiters(future):
    """Who waits for it: pending tasks and futures by address; ended ones only as a number, for they cannot wait."""
    waiters = recorded_awaiters(future)
    recorded = {address(waiter) for waiter in waiters if not waiter.done()}
    others = {address(waiter) for waiter in derived.get(future, ())} - recorded
    return {
        "awaited_by": sorted(recorded | others),
        "derived": sorted(others),
        "stale_awaiters": sum(waiter.done() for waiter in waiters),
    }


def recorded_awaiters(future):
    return getattr(future, "_asyncio_awaited_by", None) or ()


def ended_tasks():
    """Tasks that have ended and are still there."""
    classes = (asyncio.Task, asyncio.tasks._PyTask)
    return [thing for thing in [*gc.get_objects(), *frozen] if issubclass(type(thing), classes) and thing.done()]


def awaited_futures(tasks):
    """Futures, not tasks, that tasks wait for."""
    waits_on = {getattr(task, "_fut_waiter", None) for task in tasks}
    return {future for future in waits_on - {None} if future not in tasks and not isinstance(future, asyncio.Task)}


def thread_frames(frame):
    """{native thread id: its frames, innermost first}, for every thread of this interpreter that runs Python code."""
    native_ids = {thread.ident: thread.native_id for thread in threading.enumerate()}
    innermost = sys._current_frames() | {threading.get_ident(): frame}
    return {native_ids[ident]: list(inner_to_outer(frame)) for ident, frame in innermost.items() if ident in native_ids}


def inner_to_outer(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def running_stacks(threads):
    """
    {task: (frames, their objects)} for every task whose coroutine is on a thread's stack.

    A task's frames end at its coroutine's own; what has no frame there (compiled, or no coroutine) stands outside of them. A task
    that started another eagerly is below it on the same thread.
    """
    tasks = {}
    for task in (task for loop in loops for task in tasks_of(loop)):
        *outside, last = frameless(task.get_coro())
        if type(last) in KINDS:
            tasks[last] = task, [thing for thing in outside[::-1] if entry_of(thing)]
    stacks = {}
    for frames in threads.values():
        segment = []
        for frame in frames:
            segment.append(frame)
            if frame.f_generator in tasks:
                task, outside = tasks[frame.f_generator]
                entries = [frame_entry(frame, frame.f_generator) for frame in segment]
                objects = [frame.f_generator and address(frame.f_generator) for frame in segment]
                stacks[task] = entries + [entry_of(thing) for thing in outside], objects + [address(thing) for thing in outside]
                segment = []
    return stacks


def frameless(awaitable):
    """This awaitable and what it awaits, up to the first that has a frame."""
    while awaitable is not None:
        yield awaitable
        awaitable = None if type(awaitable) in KINDS else awaited_by(awaitable)


def suspended_stack(awaitable):
    """
    (frames innermost first, their objects). A chain that ends at an object of which nothing is known ends with its type
    and address.
    """
    entries, objects = [], []
    while awaitable is not None and type(awaitable).__name__ != "FutureIter":
        entry = entry_of(awaitable)
        if entry is not None:
            entries.append(entry)
            objects.append(address(awaitable))
        awaitable = awaited_by(awaitable)
    return entries[::-1], objects[::-1]


def is_compiled(thing):
    """Whether it is a coroutine, a generator or a wrapper that Cython made."""
    return type(thing).__module__.startswith("_cython_")


def awaited_by(thing):
    """What a coroutine, a generator, a wrapper or another awaitable object awaits now."""
    for attribute in AWAITED:
        if hasattr(thing, attribute):
            return getattr(thing, attribute)
    if type(thing).__name__ in WRAPPERS:
        return next(referent for referent in gc.get_referents(thing) if not isinstance(referent, type))
    return held_by(thing)


def held_by(thing):
    """The only coroutine or generator that has not ended among the attributes of an object."""
    names = {name for cls in type(thing).__mro__ for name in vars(cls) if isinstance(vars(cls)[name], types.MemberDescriptorType)}
    attributes = [getattr(thing, name) for name in names if hasattr(thing, name)] + [*getattr(thing, "__dict__", {}).values()]
    held = {id(value): value for value in attributes if is_alive(value)}
    return next(iter(held.values())) if len(held) == 1 else None


def is_alive(thing):
    match type(thing):
        case types.CoroutineType:
            return thing.cr_frame is not None
        case types.GeneratorType:
            return thing.gi_frame is not None
        case types.AsyncGeneratorType:
            return thing.ag_frame is not None
    return is_compiled(thing) or type(thing).__name__ in WRAPPERS


def is_created(thing):
    """Whether it has not started."""
    if type(thing) is types.CoroutineType:
        return inspect.getcoroutinestate(thing) == "CORO_CREATED"
    if is_compiled(thing):
        return thing.cr_await is None
    held = awaited_by(thing)
    return held is not None and is_created(held)


def entry_of(thing):
    """The entry in a stack of what is suspended: its frame; of an object without one its type; of a wrapper none."""
    match type(thing):
        case types.CoroutineType:
            return frame_entry(thing.cr_frame, thing)
        case types.GeneratorType:
            return frame_entry(thing.gi_frame, thing)
        case types.AsyncGeneratorType:
            return frame_entry(thing.ag_frame, thing)
    if type(thing).__name__ in WRAPPERS:
        return None
    if is_compiled(thing):
        return {"function": thing.__qualname__, "file": file_of(thing), "line": None, "kind": KINDS_OF_CYTHON[type(thing).__name__]}
    return {"function": type_name(thing), "file": None, "line": None, "kind": "awaitable"}


def file_of(thing):
    """The source file of what Cython compiled. Its async generators do not tell."""
    code = getattr(thing, "cr_code", None) or getattr(thing, "gi_code", None)
    return code.co_filename if code else compiled_files[thing.__qualname__]


def frame_entry(frame, owner):
    code = frame.f_code
    kind = KINDS.get(type(owner), "function")
    entry = {"function": code.co_qualname, "file": code.co_filename, "line": frame.f_lineno, "kind": kind}
    if values is not None and code.co_name != "<module>" and frame.f_globals["__name__"] == "__main__":
        entry["locals"] = {name: value_entry(value) for name, value in frame.f_locals.items()}
    return entry


def value_entry(value):
    return {"type": type_name(value), "address": address(value), "value": values(value)}


def failed_entry(task):
    """Without exception(), which would note that the exception was retrieved."""
    chain = []
    add_exceptions(chain, [("", None, task._exception)])
    first, *others = chain
    return {"id": address(task), "never_retrieved": task._log_traceback, **first, "chain": others}


def add_exceptions(chain, waiting):
    """The exceptions that lead to others, as a traceback shows them, breadth first, each once."""
    seen = set()
    while waiting:
        relation, of, exception = waiting.pop(0)
        if exception in seen:
            continue
        seen.add(exception)
        chain.append(exception_entry(exception) | ({"relation": relation, "of": address(of)} if of else {}))
        if exception.__cause__:
            waiting.append(("cause", exception, exception.__cause__))
        elif exception.__context__ and not exception.__suppress_context__:
            waiting.append(("context", exception, exception.__context__))
        if isinstance(exception, BaseExceptionGroup):
            waiting += [("member", exception, member) for member in exception.exceptions]


def exception_entry(exception):
    frames = [frame_of_traceback(frame.f_code, line) for frame, line in traceback.walk_tb(exception.__traceback__)]
    return {"exception": address(exception), "type": type_name(exception), "message": str(exception), "stack": frames[::-1]}


def frame_of_traceback(code, line):
    kind = "coroutine" if code.co_flags & inspect.CO_COROUTINE else "function"
    return {"function": code.co_qualname, "file": code.co_filename, "line": line, "kind": kind}


def add_texts(document, tasks, on_stack):
    """
    Add asyncio.format_call_graph()'s text to every task for which that is right, and compare what it says of the stack
    with ours. With lengths, add how many frames it has of every task.
    """
    first = list(zip(tasks, document["tasks"]))[:MAX_TEXTS]
    asked = {task: entry for task, entry in first if asyncio_is_right(task, on_stack)}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        for task, entry in asked.items():
            stack = [frame_entry(item.frame, item.frame.f_generator) for item in asyncio.capture_call_graph(task).call_stack]
            assert stack == entry["stack"], (stack, entry["stack"])
        answer = {
            "texts": [asyncio.format_call_graph(task) for task in asked],
            "lengths": [len(asyncio.capture_call_graph(task).call_stack) for task, _ in first] if lengths else [],
        }
        with open(writer, "w") as file:
            json.dump(answer, file)
        os._exit(0)
    os.close(writer)
    with open(reader) as file:
        answer = json.load(file)
    for entry, text in zip(asked.values(), answer["texts"]):
        entry["text"] = text
    for (_, entry), length in zip(first, answer["lengths"]):
        entry["asyncio_frames"] = length
    os.waitpid(child, 0)


def asyncio_is_right(task, on_stack):
    """
    Whether format_call_graph() tells the truth about this task and all that wait for it.

    It stops at everything but coroutines, shows one frame of a task that is on a thread's stack, does not end in a cycle, and shows
    tasks that have ended as waiters.
    """
    pending, seen = [(task, ())], set()
    while pending:
        future, path = pending.pop()
        if future in path or future.done() or future in on_stack or future in derived or len(seen) > MAX_TEXTS:
            return False
        seen.add(future)
        is_task = hasattr(future, "get_coro")
        if not isinstance(future, asyncio.Task if is_task else asyncio.Future):
            return False
        if isinstance(future, asyncio.Task):
            awaitable = future.get_coro()
            while type(awaitable) is types.CoroutineType:
                awaitable = awaitable.cr_await
            if awaitable is not None and type(awaitable).__name__ != "FutureIter":
                return False
        pending += [(waiter, (*path, future)) for waiter in recorded_awaiters(future)]
    return True
