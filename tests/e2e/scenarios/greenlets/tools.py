"""
Tools of sys.monitoring: one that got its id from another that had freed it, and the names that they gave themselves.
"""

import sys

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet

monitoring = sys.monitoring
events = monitoring.events


def first():
    getcurrent().parent.switch()


def second():
    getcurrent().parent.switch()


def third():
    getcurrent().parent.switch()


monitoring.use_tool_id(3, "coverage")
monitoring.set_events(3, events.PY_START | events.PY_RETURN)
one = oracle.expect(greenlet(first), instrumentation={"first": {"extra": ["token=<redacted>"], "misses": ["line by\nline"]}})
one.switch()
monitoring.set_events(3, 0)
monitoring.free_tool_id(3)
two = oracle.expect(greenlet(second), instrumentation={"second": {"misses": ["line by\nline"]}})
two.switch()
monitoring.use_tool_id(3, "token=gT8sKq2LpZx0WvN4")
monitoring.use_tool_id(5, "line by\nline")
monitoring.set_events(5, events.LINE)
three = oracle.expect(greenlet(third), instrumentation={})
three.switch()
oracle.keep.extend((one, two, three))
oracle.stop()
