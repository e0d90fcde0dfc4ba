"""Suspended greenlets with C code between their frames: of a subclass, in an except block, with a parent that is not main."""

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


class MyGreenlet(greenlet):
    pass


def leaf():
    getcurrent().parent.switch()


def gen():
    yield leaf()


def keyf(item):
    for _ in gen():
        pass
    return item


def mid(items):
    return sorted(items, key=keyf)


def plain(item):
    return mid([item])


def handles():
    try:
        raise KeyError
    except KeyError:
        leaf()


def generators():
    def inner():
        try:
            raise ValueError
        except ValueError:
            yield leaf()

    def outer():
        try:
            raise TypeError
        except TypeError:
            yield from inner()

    list(outer())


class Calls:
    def run(self):
        leaf()


def nest(depth):
    child = oracle.expect(greenlet(nest if depth else plain), c_calls=[] if depth else [2])
    oracle.keep.append(child)
    oracle.extra["innermost"] = oracle.address(child)
    child.switch(depth - 1 if depth else 0)
    leaf()


# A loop over a generator goes through C until it has been specialized.
for cls, c_calls in ((greenlet, [1, 2]), (MyGreenlet, [2])):
    suspended = oracle.expect(cls(plain), c_calls=c_calls)
    suspended.switch("b")
    oracle.keep.append(suspended)
for function, c_calls in ((handles, []), (generators, [2]), (Calls().run, []), (lambda: list(map(keyf, [1])), [2])):
    suspended = oracle.expect(greenlet(function), c_calls=c_calls)
    suspended.switch()
    oracle.keep.append(suspended)
family = oracle.expect(greenlet(nest), c_calls=[])
family.switch(3)
oracle.keep.append(family)
oracle.stop()
