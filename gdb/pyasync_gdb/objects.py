"""The files that the process had mapped: which one stands at an address, whether GDB has it, whether the one here is the same."""

import bisect
import os
import struct
from typing import Callable, Dict, List, NamedTuple, Optional

import gdb

from . import library, memory_map

# <elf.h>: what of Elf64_Ehdr tells where the program headers are, Elf64_Phdr, Elf64_Nhdr.
_ELF_64_LITTLE = b"\x7fELF\x02\x01"
_TABLE = struct.Struct("<32x Q 14x 2H")
_PROGRAM_HEADER = struct.Struct("<2I 6Q")
_NOTE = struct.Struct("<3I")
_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3
_MOST_HEADERS = 64
_MOST_NOTES = 1 << 16  # bytes

Read = Callable[[int, int], bytes]


class ObjectFile(NamedTuple):
    path: str
    state: int  # library.OBJECT_*
    build_id: Optional[str]  # of what the process had mapped
    file_build_id: Optional[str]  # of the file here


class MappedFiles:
    """@p is_in_core tells whether the core itself has the byte at an address: what it has not GDB takes from the file."""

    def __init__(self, is_in_core: Callable[[int], bool]) -> None:
        self._is_in_core = is_in_core
        self._mappings = sorted(memory_map.mapped_files())
        self._starts = [mapping[0] for mapping in self._mappings]
        self._opened: Dict[str, Optional[str]] = {}  # the build-ids of the files that GDB has opened
        for objfile in gdb.objfiles():
            if objfile.is_valid() and objfile.filename:
                # GDB may know a file by a link to it, the process's mappings never do.
                self._opened[objfile.filename] = self._opened[os.path.realpath(objfile.filename)] = objfile.build_id

    def path_at(self, address: int) -> Optional[str]:
        index = bisect.bisect_right(self._starts, address) - 1
        if index >= 0 and address < self._mappings[index][1]:
            return self._mappings[index][2]
        return gdb.solib_name(address)

    def is_opened(self, path: Optional[str]) -> bool:
        return path is not None and self._opened_as(path) is not None

    def _opened_as(self, path: str) -> Optional[str]:
        # Below a sysroot the name of an object file is longer than what the process called it; from outside of a chroot the kernel
        # calls it by a longer one.
        return next((name for name in self._opened if name.endswith(path) or path.endswith(name)), None)

    def check(self) -> List[ObjectFile]:
        """All ELF files that the process had mapped, each once."""
        starts: Dict[str, int] = {}
        for start, _, path in self._mappings:
            starts.setdefault(path, start)
        found = (self._check(path, start) for path, start in starts.items())
        return [each for each in found if each is not None]

    def _check(self, path: str, start: int) -> Optional[ObjectFile]:
        mapped = None
        if self._is_in_core(start):
            data = _read_memory(start, 64)
            if not data.startswith(_ELF_64_LITTLE):
                return None
            mapped = build_id(lambda address, size: _read_memory(start + address, size), in_memory=True)
        name = self._opened_as(path)
        file = _below_sysroot(path)
        if name is not None:
            here = self._opened[name]
        elif file is None or not os.path.isfile(file):
            is_code = mapped is not None or ".so" in os.path.basename(path)
            return ObjectFile(path, library.OBJECT_MISSING, mapped, None) if is_code else None
        else:
            here = _build_id_of_file(file)
        if mapped is None and here is None:
            return None
        differs = mapped is not None and here is not None and mapped != here
        return ObjectFile(path, library.OBJECT_DIFFERS if differs else library.OBJECT_SAME, mapped, here)


def _read_memory(address: int, size: int) -> bytes:
    try:
        return gdb.selected_inferior().read_memory(address, size).tobytes()
    except gdb.error:
        return b""


def _below_sysroot(path: str) -> Optional[str]:
    """The file that GDB would take; None if it would fetch it from the target."""
    sysroot = gdb.parameter("sysroot") or ""
    if sysroot.startswith("target:"):
        connection = gdb.selected_inferior().connection
        return path if connection is not None and connection.type in ("core", "native") else None
    return sysroot.rstrip("/") + path


def _build_id_of_file(path: str) -> Optional[str]:
    def read(offset: int, size: int) -> bytes:
        file.seek(offset)
        return file.read(size)

    try:
        with open(path, "rb") as file:
            return build_id(read, in_memory=False)
    except OSError:
        return None


def build_id(read: Read, in_memory: bool) -> Optional[str]:
    """The build-id of an ELF file, of which @p read gives the bytes at an offset (in memory: from where it is mapped)."""
    header = read(0, 64)
    if len(header) < 64 or not header.startswith(_ELF_64_LITTLE):
        return None
    table, size, count = _TABLE.unpack_from(header)
    if size != _PROGRAM_HEADER.size or not 0 < count <= _MOST_HEADERS:
        return None
    headers = read(table, size * count)
    for place in range(0, len(headers) - size + 1, size):
        kind, _, offset, address, _, length, _, _ = _PROGRAM_HEADER.unpack_from(headers, place)
        found = _build_id_in(read(address if in_memory else offset, min(length, _MOST_NOTES))) if kind == _PT_NOTE else None
        if found is not None:
            return found
    return None


def _build_id_in(notes: bytes) -> Optional[str]:
    place = 0
    while place + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, place)
        name = place + _NOTE.size
        content = name + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and notes[name : name + name_size] == b"GNU\0" and content + size <= len(notes):
            return notes[content : content + size].hex()
        place = content + (size + 3) // 4 * 4
    return None
