"""
The process stops in a finalizer that the garbage collector calls: it holds what it found unreachable in a list of its own. Memory
has blocks of greenlets that were freed.
"""

import gc

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def wait():
    getcurrent().parent.switch()


class Mine(greenlet):
    pass


class Garbage:
    def __del__(self):
        # What is garbage is in none of the lists that gc.get_objects() looks into.
        oracle.unlisted.append(self.greenlet)
        oracle.stop()


gc.disable()
crowd = [(greenlet, Mine)[number % 2](wait) for number in range(1000)]
for number, each in enumerate(crowd):
    if number % 3:
        each.switch()
oracle.keep.extend(crowd[::100])
crowd.clear()
del each
for cls in (greenlet, Mine):
    suspended = cls(wait)
    suspended.switch()
    oracle.keep.append(suspended)
garbage = Garbage()
garbage.itself = garbage
garbage.greenlet = Mine(wait)
del garbage
gc.collect()
