"""Suspended greenlets that outlive their thread: one that nobody has asked since; one that was, which lost its frames."""

import threading

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet


def leaf():
    getcurrent().parent.switch()


def f():
    leaf()


def thread_main():
    oracle.keep.extend(greenlet(f) for _ in range(2))
    for suspended in oracle.keep:
        suspended.switch()
    oracle.keep.append(getcurrent())


thread = threading.Thread(target=thread_main)
thread.start()
thread.join()
unasked, asked, main = oracle.keep
stack = [oracle.frame_entry(frame) for frame in oracle.inner_to_outer(unasked.gr_frame)]
oracle.expect(unasked, state="thread exited", thread=None, stack=stack, c_calls=[])
repr(asked)
oracle.expect(asked, state="thread exited", thread=None, stack=[], c_calls=[])
oracle.expect(main, state="thread exited", thread=None, stack=[], c_calls=[])
oracle.stop()
