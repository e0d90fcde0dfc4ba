"""
sys.setprofile() is turned on inside a greenlet: not even the main greenlet's frames are instrumented. They had been once,
so no crash is near.
"""

import sys

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def main():
    greenlet(inside).switch()


def inside():
    sys.setprofile(lambda *arguments: None)
    oracle.stop()


sys.setprofile(lambda *arguments: None)
main_greenlet = getcurrent()
sys.setprofile(None)
MISSES = {"misses": ["sys.setprofile"]}
oracle.expect(main_greenlet, instrumentation={"main": MISSES, "<module>": MISSES})
main()
