"""Compressed cores, unpacked by the ordinary tools into a private folder."""

import io
import os
import shutil
import stat
import subprocess
from typing import BinaryIO, Optional

from . import children
from .core_file import NotACore, read_headers
from .text import size

# The first bytes, the tool, and Debian's name of its package.
_FORMATS = (
    (b"\x28\xb5\x2f\xfd", ["zstd", "-d", "-c", "-q"], "zstd"),
    (b"\x04\x22\x4d\x18", ["lz4", "-d", "-c", "-q"], "lz4"),
    (b"\xfd7zXZ\0", ["xz", "-d", "-c", "-q"], "xz-utils"),
    (b"\x1f\x8b", ["gzip", "-d", "-c", "-q"], "gzip"),
)
_BLOCK = 1 << 16  # what is all zeros becomes a hole, in pieces of this size


class _Replay(io.RawIOBase):
    """A pipe, and the bytes read from it so far."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self.head = b""

    def seekable(self) -> bool:
        return False

    def read(self, count: int = -1) -> bytes:
        data = self._pipe.read(count)
        self.head += data
        return data


def _format_of(path: str) -> Optional[tuple]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with io.open(descriptor, "rb") as stream:
        head = stream.read(6) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    return next((entry for entry in _FORMATS if head.startswith(entry[0])), None)


def is_packed(path: str) -> bool:
    """Whether a file is compressed by its first bytes. Raises OSError."""
    return _format_of(path) is not None


def unpack(path: str, target: str) -> Optional[str]:
    """
    Unpack the compressed core @p path to the new file @p target, with holes for zeros.

    @return What is wrong with what could be unpacked, or None. Raises NotACore if nothing could; OSError.
    """
    entry = _format_of(path)
    assert entry is not None
    _, command, package = entry
    with open(path, "rb") as packed:
        try:
            process = children.start(command, stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            raise NotACore(f"needs {command[0]} to be unpacked: install {package}") from None
    try:
        with process.stdout as pipe:
            return _copy(pipe, target)
    finally:
        children.end(process)


def _copy(pipe: BinaryIO, target: str) -> Optional[str]:
    replay = _Replay(pipe)
    whole = read_headers(replay).whole_size
    free = shutil.disk_usage(os.path.dirname(target)).free
    if whole > free:
        where = os.path.dirname(os.path.dirname(target))
        raise NotACore(f"needs {size(whole)} to be unpacked, and {where} has {size(free)}: name another folder with --tmp DIR")
    with open(target, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        written, block = 0, replay.head
        # Not a byte more than the headers promise: a small file can unpack to anything.
        while block and written < whole:
            block = block[: whole - written]
            if block.count(0) == len(block):
                file.seek(len(block), os.SEEK_CUR)
            else:
                file.write(block)
            written += len(block)
            block = pipe.read(_BLOCK)
        file.truncate(written)
    if written < whole:
        return f"unpacks to {size(written)} of {size(whole)}: the compressed file is damaged or cut short"
    return None
