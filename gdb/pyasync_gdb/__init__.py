"""What pyasync knows of GDB. Loaded by `source pyasync.py`, which stands beside this folder."""

from typing import Optional

import gdb

from . import printers
from .commands import COMMANDS
from .functions import FUNCTIONS
from .library import LibraryError
from .session import Sessions

_sessions: Optional[Sessions] = None


def load() -> None:
    """Register the commands, functions and printers. Without a fitting library the first two exist too, and say what to do."""
    global _sessions
    _sessions = Sessions()
    for made in (*COMMANDS, *FUNCTIONS):
        made(_sessions)
    try:
        printers.register(_sessions, _sessions.load_library())
    except LibraryError as error:
        gdb.write(f"{error}\n", gdb.STDERR)


def unload() -> None:
    """Let go of the target and of GDB's events, before another version is loaded."""
    if _sessions is not None:
        _sessions.unload()
