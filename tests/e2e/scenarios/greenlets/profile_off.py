"""sys.setprofile() is turned off while greenlets are suspended that were instrumented for it, and others that never were."""

import sys

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def leaf():
    getcurrent().parent.switch()


def before():
    leaf()


def leaf2():
    getcurrent().parent.switch()


def after():
    leaf2()


EXTRA = {"extra": ["sys.setprofile"]}
never = oracle.expect(greenlet(before), instrumentation={"leaf": {"stale": []}, "before": {"stale": []}})
never.switch()
sys.setprofile(lambda *arguments: None)
instrumented = oracle.expect(greenlet(after), instrumentation={"leaf2": EXTRA, "after": EXTRA})
instrumented.switch()
sys.setprofile(None)
oracle.keep.extend((never, instrumented))
oracle.stop()
