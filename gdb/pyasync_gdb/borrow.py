"""
Parts of GDB's state that a command changes for a moment and always gives back, whenever a Ctrl-C comes.

Python can raise KeyboardInterrupt between any two steps, also in a `finally` or on the way into a context manager's __exit__. So
SIGINT is held back while state is taken and given back, and let in for the body alone, which is a function for that reason.
pthread_sigmask() itself raises what came just before, when the mask has changed already: hence its place inside each `try`.
"""

import signal
from typing import Callable, TypeVar, Union

import gdb

Result = TypeVar("Result")


def _borrow(take: Callable[[], None], give_back: Callable[[], None], body: Callable[[], Result]) -> Result:
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        take()
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return body()
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    finally:
        try:
            give_back()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def with_setting(name: str, value: Union[bool, str], body: Callable[[], Result]) -> Result:
    """Run @p body with another value of a setting of GDB."""

    def change(new: Union[bool, str]) -> None:
        if isinstance(new, bool):
            new = "on" if new else "off"
        gdb.execute(f"set {name} {new}", to_string=True)

    old = gdb.parameter(name)
    if old == value:
        return body()
    return _borrow(lambda: change(value), lambda: change(old), body)


def with_any_thread(body: Callable[[], Result]) -> Result:
    """Run @p body, which may select threads; then the user's thread and frame are selected again."""
    thread = gdb.selected_thread()
    try:
        level = gdb.selected_frame().level()
    except gdb.error:
        level = 0

    def give_back() -> None:
        if thread is None or not thread.is_valid():
            return
        thread.switch()
        # Switching throws GDB's frames away: find the user's by its level. And an unwinding that was interrupted has left a stack
        # behind that seems to end there.
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame() if level > 0 else None
        for _ in range(level):
            frame = frame.older() if frame is not None else None
        if frame is not None:
            frame.select()

    return _borrow(lambda: None, give_back, body)
