"""Parts of GDB's state that a command changes for a moment and always gives back."""

from contextlib import contextmanager
from typing import Callable, Iterator, Union

import gdb


def _certainly(give_back: Callable[[], None]) -> None:
    """Run @p give_back to its end even if a Ctrl-C comes in the middle, which then is raised."""
    try:
        give_back()
    except KeyboardInterrupt:
        give_back()
        raise


@contextmanager
def setting(name: str, value: Union[bool, str]) -> Iterator[None]:
    """Change a setting of GDB for the body."""

    def change(new: Union[bool, str]) -> None:
        if isinstance(new, bool):
            new = "on" if new else "off"
        gdb.execute(f"set {name} {new}", to_string=True)

    old = gdb.parameter(name)
    if old == value:
        yield
        return
    try:
        change(value)
        yield
    finally:
        _certainly(lambda: change(old))


@contextmanager
def selection() -> Iterator[None]:
    """Let the body select threads; then select the user's thread and frame again."""
    thread = gdb.selected_thread()
    try:
        frame = gdb.selected_frame()
        level = frame.level()
    except gdb.error:
        frame, level = None, 0

    def give_back() -> None:
        if thread is None or not thread.is_valid():
            return
        thread.switch()
        if level == 0:
            return
        # Switching threads throws GDB's frames away: find the user's frame again by its level.
        again = gdb.newest_frame()
        for _ in range(level):
            older = again.older()
            if older is None:
                return
            again = older
        again.select()

    try:
        yield
    finally:
        _certainly(give_back)
