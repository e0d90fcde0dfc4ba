"""A link in the collector's list of old objects is damaged: greenlets are searched for, among freed blocks."""

import ctypes
import gc

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def wait():
    getcurrent().parent.switch()


class Mine(greenlet):
    pass


def damage():
    """Only what is never freed has neighbours of the damaged link. PyGC_Head: _gc_next, _gc_prev, before the object."""
    ctypes.c_size_t.from_address(id(neighbours[1]) - 16).value = 8


crowd = [(greenlet, Mine)[number % 2](wait) for number in range(1000)]
for number, each in enumerate(crowd):
    if number % 3:
        each.switch()
neighbours = [[], [], []]
oracle.keep.extend(crowd[::100])
del each
crowd.clear()
gc.collect()
gc.disable()
oracle.keep.append(Mine(wait))
oracle.damage.append(damage)
oracle.stop()
