"""The thread runs a greenlet that is not its main one, started by another that is not: below it come those that it returns to."""

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def leaf():
    getcurrent().parent.switch()


def runner():
    oracle.stop()


def starter():
    child = greenlet(runner)
    oracle.keep.append(child)
    child.switch()


def main():
    ended = greenlet(lambda: None)
    ended.switch()
    waits = greenlet(leaf)
    waits.switch()
    child = greenlet(starter, parent=ended)  # greenlet passes over it when it looks for a parent to return to
    oracle.keep.extend((ended, waits, child))
    child.parent = getcurrent()
    child.switch()


main()
