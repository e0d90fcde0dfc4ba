"""Each state of a greenlet: pending (its run callable of several kinds), suspended in C code only, dead, killed."""

import contextvars
import functools

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def wait():
    getcurrent().parent.switch()


class Calls:
    def method(self):
        wait()

    def __call__(self):
        wait()


class Runs(greenlet):
    def run(self):
        wait()


def pending(run, **fields):
    oracle.keep.append(oracle.expect(greenlet(run), run=fields))


def place(function):
    code = function.__code__
    return {"function": code.co_qualname, "file": code.co_filename, "line": code.co_firstlineno}


pending(wait, **place(wait))
pending(wait, **place(wait))
pending(Calls().method, **place(Calls.method))
pending(Calls(), type="Calls")
pending(functools.partial(wait), type="functools.partial")
pending(len, type="builtin_function_or_method")
oracle.keep.append(Runs())

c_only = greenlet(contextvars.Context().run)
c_only.switch(getcurrent().switch)
dead = greenlet(lambda: None)
dead.switch()
killed = greenlet(wait)
killed.switch()
killed.throw()
finished = Runs()
finished.switch()
finished.switch()
suspended = Runs()
suspended.switch()
oracle.keep.extend((c_only, dead, killed, finished, suspended))
oracle.stop()
