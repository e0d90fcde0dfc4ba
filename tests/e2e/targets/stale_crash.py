"""An exception passes through a greenlet that was suspended when sys.setprofile() was turned on: 3.15 crashes."""

import sys

from greenlet import getcurrent, greenlet


def raises():
    getcurrent().parent.switch()
    raise ValueError


suspended = greenlet(raises)
suspended.switch()
sys.setprofile(lambda *arguments: None)
suspended.switch()
