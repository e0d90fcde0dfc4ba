"""Lines of source files, looked for where GDB's settings say that sources are."""

import os
import re
import stat
from collections import OrderedDict
from typing import Iterator, List, Optional, Tuple

import gdb

_LARGEST_FILE = 8 << 20  # bytes; beyond that it is no source file
_CACHED_FILES = 16

_SUBSTITUTION = re.compile(r"^  [`'‘](.*)['’] -> [`'‘](.*)['’]\.$", re.M)


class SourceFiles:
    """The last few files, as lines. Lives for one command: the next one may run under other settings."""

    def __init__(self) -> None:
        self._files: "OrderedDict[str, Optional[List[bytes]]]" = OrderedDict()
        self._substitutions: Optional[List[Tuple[str, str]]] = None

    def line(self, file: str, number: int) -> Optional[str]:
        """Line @p number (from 1) of @p file, or None."""
        if file not in self._files:
            self._files[file] = _read_first(_candidates(self._substitute(file)))
            if len(self._files) > _CACHED_FILES:
                self._files.popitem(last=False)
        self._files.move_to_end(file)
        lines = self._files[file]
        if lines is None or not 1 <= number <= len(lines):
            return None
        return lines[number - 1].decode("utf-8", "replace")

    def _substitute(self, file: str) -> str:
        """Apply the first rule of `set substitute-path` whose left side is a leading part of @p file, as GDB does."""
        if self._substitutions is None:
            self._substitutions = _SUBSTITUTION.findall(gdb.execute("show substitute-path", to_string=True))
        for old, new in self._substitutions:
            if file == old or file.startswith(old if old.endswith("/") else old + "/"):
                return new + file[len(old) :]
        return file


def _candidates(file: str) -> Iterator[str]:
    """Where @p file may be, in GDB's order: `directory`, `set sysroot`, the path itself."""
    for folder in gdb.parameter("directories").split(":"):
        if folder in ("$cdir", ""):
            continue  # the compilation directory: Python's code objects have none
        if folder == "$cwd":
            # Only for relative names: a file that merely has the same base name as one in the user's folder is another file.
            if not os.path.isabs(file):
                yield os.path.join(os.getcwd(), file)
            continue
        folder = os.path.expanduser(folder)
        yield os.path.join(folder, file.lstrip("/"))
        yield os.path.join(folder, os.path.basename(file))
    if os.path.isabs(file):
        sysroot = gdb.parameter("sysroot") or ""
        if sysroot.startswith("target:"):
            sysroot = sysroot[len("target:") :]
        if sysroot.strip("/"):
            yield os.path.join(sysroot, file.lstrip("/"))
        yield file


def _read_first(paths: Iterator[str]) -> Optional[List[bytes]]:
    for path in paths:
        try:
            # Regular files with a size only: a FIFO, a device or /proc/kmsg as a hostile file name would block or never end.
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= _LARGEST_FILE:
                continue
            with open(path, "rb") as stream:
                return stream.read(_LARGEST_FILE).splitlines()
        except (OSError, ValueError):  # ValueError: a NUL in the name
            continue
    return None
