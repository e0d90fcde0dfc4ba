"""
One line about a task or future where GDB would print its structure, or a pointer to one.

These types are known where the interpreter's debug symbols are; the library tells their names. Pointers to any object are left
to the interpreter's own python-gdb.py, which knows no task. `print /r` shows the structure.
"""

import ctypes
from typing import Optional

from gdb.printing import RegexpCollectionPrettyPrinter, register_pretty_printer

import gdb

from . import library
from .session import Sessions


class _Line:
    """What GDB asks for the text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_string(self) -> str:
        return self._text


class _Printers(RegexpCollectionPrettyPrinter):
    """As the collections of C++ classes, for pointers too: what takes a task in C has nothing else."""

    def __init__(self, sessions: Sessions, lib: ctypes.CDLL) -> None:
        super().__init__("pyasync")
        self._sessions = sessions
        self._tags = []
        for name, structure in (("Task", library.STRUCT_TASK), ("Future", library.STRUCT_FUTURE)):
            self._tags.append(library.struct_name(lib, structure))
            self.add_printer(name, f"^{self._tags[-1]}$", self._print)

    def __call__(self, value: gdb.Value) -> Optional[_Line]:
        kind = value.type.strip_typedefs()
        if kind.code != gdb.TYPE_CODE_PTR:
            return super().__call__(value)
        if kind.target().strip_typedefs().tag not in self._tags:
            return None
        line = super().__call__(value.dereference())
        return line and _Line(f"{int(value):#x} {line.to_string()}")

    def _print(self, value: gdb.Value) -> Optional[_Line]:
        """None, and GDB prints in its own way, where there is no such object."""
        try:
            return _Line(self._sessions.describe(int(value.address))) if value.address is not None else None
        except (gdb.error, gdb.GdbError, KeyboardInterrupt):
            return None


def register(sessions: Sessions, lib: ctypes.CDLL) -> None:
    register_pretty_printer(None, _Printers(sessions, lib), replace=True)
