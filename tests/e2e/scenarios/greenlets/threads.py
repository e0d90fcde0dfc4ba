"""Two threads with a suspended greenlet each, and one that runs a greenlet of its own."""

import threading

import greenlet_oracle as oracle
from greenlet import getcurrent, greenlet

here = threading.Semaphore(0)
end = threading.Event()


def leaf():
    getcurrent().parent.switch()


def thread_main():
    suspended = greenlet(leaf)
    suspended.switch()
    oracle.keep.append(suspended)
    oracle.register()
    here.release()
    end.wait()


def wait_inside():
    oracle.register()
    here.release()
    end.wait()


def thread_runs():
    child = greenlet(wait_inside)
    oracle.keep.append(child)
    child.switch()


suspended = greenlet(leaf)
suspended.switch()
threads = [threading.Thread(target=target, daemon=True) for target in (thread_main, thread_runs)]
for thread in threads:
    thread.start()
    here.acquire()
oracle.stop()
