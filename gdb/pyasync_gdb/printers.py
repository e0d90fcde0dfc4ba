"""
One line about a task or future where GDB would print its structure: TaskObj and FutureObj of CPython's _asyncio, or pointers to
them.

These types are known where the interpreter's debug symbols are. A PyObject * is left to CPython's own python-gdb.py, which knows
no task. `print /r` shows the structure.
"""

from typing import Optional

from gdb.printing import RegexpCollectionPrettyPrinter, register_pretty_printer

import gdb

from .session import Sessions

# Modules/_asynciomodule.c
_TYPES = {"Task": "TaskObj", "Future": "FutureObj"}


class _Line:
    """What GDB asks for the text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_string(self) -> str:
        return self._text


class _Printers(RegexpCollectionPrettyPrinter):
    """As the collections of C++ classes, for pointers too: _asyncio's functions have nothing else."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__("pyasync")
        self._sessions = sessions
        for name, tag in _TYPES.items():
            self.add_printer(name, f"^{tag}$", self._print)

    def __call__(self, value: gdb.Value) -> Optional[_Line]:
        kind = value.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_PTR:
            return super().__call__(value)
        if kind.target().strip_typedefs().tag not in _TYPES.values():
            return None
        line = super().__call__(value.dereference())
        return line and _Line(f"{int(value):#x} {line.to_string()}")

    def _print(self, value: gdb.Value) -> Optional[_Line]:
        """None, and GDB prints in its own way, where there is no such object."""
        try:
            return _Line(self._sessions.describe(int(value.address))) if value.address is not None else None
        except (gdb.error, gdb.GdbError, KeyboardInterrupt):
            return None


def register(sessions: Sessions) -> None:
    register_pretty_printer(None, _Printers(sessions), replace=True)
