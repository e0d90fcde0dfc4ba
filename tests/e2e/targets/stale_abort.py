"""sys.setprofile() is turned on in one greenlet, off in another; the first one goes on, instrumented: debug builds abort."""

import sys

from greenlet import getcurrent, greenlet


def turns_on():
    sys.setprofile(lambda *arguments: None)
    getcurrent().parent.switch()
    return len("done")


def turns_off():
    sys.setprofile(None)


first = greenlet(turns_on)
first.switch()
greenlet(turns_off).switch()
first.switch()
