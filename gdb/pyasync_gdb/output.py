"""Where a command's result goes: GDB's terminal with its styles, or a file that is complete or not there."""

import codecs
import os
import re
import tempfile
from typing import BinaryIO, List, Optional

import gdb

from . import library

_OWN_FD = re.compile(rf"/dev/(?:(stdin)|(stdout)|(stderr)|fd/(\d+))$|/proc/(?:self|thread-self|{os.getpid()})/fd/(\d+)$")


class Terminal:
    """GDB's own output: its pager, logging and redirection work as for GDB's commands."""

    def __init__(self, allow_styles: bool) -> None:
        self.styled = allow_styles and _styles_show()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._styles = _Styles() if self.styled else None

    def write(self, style: int, data: bytes) -> None:
        text = self._decoder.decode(data)
        if self._styles is not None and 0 < style < len(library.STYLES):
            self._styles.write(text, style)
        else:
            gdb.write(text)

    def close(self, complete: bool) -> None:
        if complete:
            gdb.flush()


class _Styles:
    """GDB's user-settable styles. GDB 18 applies them itself; before, only their settings can be read."""

    _COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
    _INTENSITIES = {"bold": "1", "dim": "2"}

    def __init__(self) -> None:
        self._native = [name and gdb.Style(name) for name in library.STYLES] if hasattr(gdb, "Style") else []
        self._escapes: List[str] = [] if self._native else [self._escape(name) for name in library.STYLES]

    def write(self, text: str, style: int) -> None:
        if self._native:
            gdb.write(text, style=self._native[style])
        elif self._escapes[style]:
            gdb.write(f"{self._escapes[style]}{text}\033[m")
        else:
            gdb.write(text)

    def _escape(self, name: str) -> str:
        if not name:
            return ""
        codes = []
        for ground, base in (("foreground", 30), ("background", 40)):
            color = gdb.parameter(f"style {name} {ground}")
            if color in self._COLORS:
                codes.append(str(base + self._COLORS.index(color)))
        intensity = gdb.parameter(f"style {name} intensity")
        codes += [self._INTENSITIES[intensity]] if intensity in self._INTENSITIES else []
        return f"\033[{';'.join(codes)}m" if codes else ""


def _styles_show() -> bool:
    """Whether escape sequences reach a terminal that knows them."""
    if not gdb.parameter("style enabled") or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("TERM", "dumb") == "dumb" or not os.isatty(1):
        return False
    # While a command's output goes elsewhere (pipe, gdb.execute(to_string=True)) GDB gives its screen no width and no height.
    return gdb.parameter("width") is not None or gdb.parameter("height") is not None


class File:
    """
    --output: a temporary file beside @p path that takes its name when all is written. What is no regular file (a FIFO, /dev/null, a
    descriptor of GDB such as /dev/stdout or a shell's >(...)) is written to directly.
    """

    styled = False

    def __init__(self, path: str) -> None:
        self._path = os.path.expanduser(path)
        self._temporary: Optional[str] = None
        try:
            self._stream = self._open()
        except OSError as error:
            raise _cannot_write(path, error) from None

    def _open(self) -> BinaryIO:
        match = _OWN_FD.match(self._path)
        if match is not None:
            gdb.flush()  # what GDB printed before comes first
            return os.fdopen(os.dup(int(match[4] or match[5] or (match.lastindex or 1) - 1)), "wb")
        if os.path.isdir(self._path) or (os.path.exists(self._path) and not os.path.isfile(self._path)):
            return open(self._path, "wb")
        descriptor, self._temporary = tempfile.mkstemp(prefix=".pyasync-", dir=os.path.dirname(self._path) or ".")
        return os.fdopen(descriptor, "wb")

    def write(self, _style: int, data: bytes) -> None:
        try:
            self._stream.write(data)
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def close(self, complete: bool) -> None:
        """Give the file its name, or remove it if the command failed."""
        try:
            self._stream.close()
            if complete and self._temporary is not None:
                os.rename(self._temporary, self._path)
                self._temporary = None
        except OSError as error:
            if complete:
                raise _cannot_write(self._path, error) from None
        finally:
            if self._temporary is not None:
                os.unlink(self._temporary)


def _cannot_write(path: str, error: OSError) -> gdb.GdbError:
    return gdb.GdbError(f"cannot write {path}: {error.strerror}")
