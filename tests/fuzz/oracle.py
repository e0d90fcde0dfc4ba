"""
Stands in for the oracles of tests/e2e/scenarios: what a scenario states is not written down. Its process is made small, so
that a session takes little time, and ends in a core. Writes down the addresses of static types.
"""

import asyncio
import contextlib
import ctypes
import gc
import os
import sys
import traceback

MODE, OUTPUT = sys.argv[1:3]
keep, failed, frozen, unlisted, findings = [], [], [], [], []
loops, notes, blocked, derived, expected, extra, compiled_files = {}, {}, {}, {}, {}, {}, {}

# What the library asks for, and a little that it does not.
MODULES = """sys os builtins types threading _contextvars _asyncio asyncio.tasks asyncio.futures asyncio.events json __main__
greenlet._greenlet gevent gevent._gevent_cgreenlet""".split()
ATTRIBUTES = """__name__ __file__ __spec__ Task Future _PyTask _PyFuture _scheduled_tasks _eager_tasks _current_tasks _active
environ executable orig_argv path version stdlib_module_names gettotalrefcount greenlet bool int Context ContextVar
abort""".split()
TRACKED = 20  # objects that remain in the lists of the garbage collector


def __getattr__(name):
    """Whatever else a scenario calls."""
    return lambda *arguments, **facts: arguments[0] if arguments else None


def expect(thing, **fields):
    return thing


def address(thing):
    return hex(id(thing))


def stop():
    try:
        abort = os.abort
        write_addresses()
        make_small()
        abort()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def stop_when_idle():
    loop = asyncio.get_running_loop()
    if loop._ready:
        loop.call_soon(stop_when_idle)
    else:
        stop()


async def stop_after_this():
    asyncio.get_running_loop().call_soon(stop_when_idle)
    await asyncio.get_running_loop().create_future()


def make_small():
    """Few modules, attributes and tracked objects: the library goes through all of them for each session."""
    gc.disable()
    keep.append(dict(sys.modules))
    untrack, object_ = ctypes.pythonapi.PyObject_GC_UnTrack, ctypes.py_object
    modules = {name: sys.modules[name] for name in MODULES if name in sys.modules}
    tracked = gc.get_objects()
    others = [thing for thing in tracked if not is_looked_for(thing)]
    step = len(others) // TRACKED + 1
    for place, thing in enumerate(others):
        if place % step != 0 and thing is not others:
            untrack(object_(thing))
    dictionaries = [(sys.modules, modules)]
    for name, module in modules.items():
        if name in ("__main__", "json") or module is None:
            continue
        attributes = vars(module)
        types_ = {key: value for key, value in attributes.items() if name == "types" and isinstance(value, type)}
        dictionaries.append((attributes, {key: attributes[key] for key in ATTRIBUTES if key in attributes} | types_))
    keep.extend(dict(attributes) for attributes, _ in dictionaries)
    for attributes, wanted in dictionaries:
        attributes.clear()
        attributes.update(wanted)


def is_looked_for(thing):
    names = {cls.__name__ for cls in type(thing).__mro__}
    return not names.isdisjoint(("Future", "greenlet", "coroutine", "generator", "async_generator"))


def write_addresses():
    async def coroutine():
        pass

    async def generator():
        yield

    iterator, unused = generator(), coroutine()
    found = {
        "_PyCoroWrapper_Type": type(unused.__await__()),
        "_PyAsyncGenASend_Type": type(iterator.asend(None)),
        "_PyAsyncGenAThrow_Type": type(iterator.aclose()),
        "_PyAnextAwaitable_Type": type(anext(generator(), None)),
        "_PyNone_Type": type(None),
        "_PyNotImplemented_Type": type(NotImplemented),
    }
    unused.close()
    if "greenlet" in sys.modules:
        found["PyGreenlet_Type"] = sys.modules["greenlet"].greenlet
    found = {name: id(thing) for name, thing in found.items()}
    names = """Coro Gen AsyncGen Code Unicode Long Bool Set Dict Module Float Complex Bytes ByteArray Tuple List FrozenSet Function
    Method CFunction MethodDescr Cell Type TraceBack Frame Ellipsis Context ContextVar"""
    for name in [f"Py{name}_Type" for name in names.split()] + ["_PyRuntime"]:
        with contextlib.suppress(ValueError):
            found[name] = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    with open(OUTPUT, "w") as file:
        file.writelines(f"{name} {address:#x}\n" for name, address in found.items())
