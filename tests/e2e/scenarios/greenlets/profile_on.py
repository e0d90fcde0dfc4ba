"""
sys.setprofile() is turned on while greenlets are suspended: their frames miss its events until a function is called again.
On 3.15 an exception that passes through them crashes the process.
"""

import sys

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet

MISSES = {"misses": ["sys.setprofile"]} | ({"crashes": []} if sys.version_info >= (3, 15) else {})


def wait():
    getcurrent().parent.switch()


def leaf():
    getcurrent().parent.switch()


def before():
    leaf()


def healed():
    getcurrent().parent.switch()


def after():
    wait()


def gen():
    yield


suspended = oracle.expect(greenlet(before), instrumentation={"leaf": MISSES, "before": MISSES})
sibling = oracle.expect(greenlet(healed), instrumentation={})
suspended.switch()
sibling.switch()
generator = gen()
next(generator)
sys.setprofile(lambda *arguments: None)
again = oracle.expect(greenlet(healed), instrumentation={})
again.switch()
started = oracle.expect(greenlet(after), instrumentation={})
started.switch()
oracle.extra["refreshes"] = ["gen"]
oracle.keep.extend((suspended, sibling, again, started, generator))
oracle.stop()
