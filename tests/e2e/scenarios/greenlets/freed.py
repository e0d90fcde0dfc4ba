"""Greenlets among the blocks of a thousand that were freed, in the collector's permanent list (gc.freeze())."""

import gc

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def wait():
    getcurrent().parent.switch()


class Mine(greenlet):
    pass


gc.disable()
crowd = []
for number in range(1000):
    crowd.append((greenlet, Mine)[number % 2](wait))
    if number % 3:
        crowd[-1].switch()
oracle.keep.extend(crowd[::100])
gc.freeze()
crowd.clear()
oracle.keep.append(greenlet(wait))
oracle.stop()
