"""
The target's memory: what GDB lists, read by the position of its hex numbers, which no translation changes; what the kernel lists
of a process on this machine; and the core file's own program headers, since GDB takes half a minute to print the 30,000 segments
of a big process.
"""

import bisect
import os
import re
import struct
from typing import Iterator, List, NamedTuple, Optional, Tuple

import gdb

from . import library

# What stands above the sections of a file:  Core file: `/tmp/core', file type elf64-x86-64.
_FILE = re.compile(r"^\S.*?[`'‘\"](/.*)['’\"], .*?[a-z0-9-]+\.$", re.M)

# maint info sections:  [7]  0x00c39880->0x00c8e248 at 0x00839880: .PyRuntime ALLOC LOAD DATA HAS_CONTENTS
_SECTION = re.compile(r"^ *\[\d+\] +0x([0-9a-f]+)->0x[0-9a-f]+ at 0x[0-9a-f]+: (\S.*?) ((?:[A-Z_]+ ?)*)$", re.M)

# info proc mappings:  0x400000  0x425000  0x25000  0x0  r--p  /usr/bin/python3.15   (permissions only if live, name not always)
_MAPPING = re.compile(r"^ *0x([0-9a-f]+) +0x([0-9a-f]+) +0x[0-9a-f]+ +0x[0-9a-f]+(?: +([r-][w-][x-][ps-]))?(?: +(\S.*?))? *$", re.M)

# /proc/PID/maps, of which GDB makes that:  00400000-00425000 r--p 00000000 08:01 3801   /usr/bin/python3.15
_KERNEL_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$", re.M)

_DELETED = " (deleted)"  # what the kernel adds to the name of a file that is no longer there

# <elf.h>: Elf64_Phdr, and what of Elf64_Ehdr stands behind its 16 bytes of e_ident.
_ELF_HEADER = struct.Struct("<16x2H I 3Q I 6H")
_PROGRAM_HEADER = struct.Struct("<2I 6Q")
_ELF_64_LITTLE = b"\x7fELF\x02\x01"
_PT_LOAD = 1
_PF_W = 2
_PN_XNUM = 0xFFFF  # more program headers than fit: their number is in the first section header's sh_info
_MOST_SEGMENTS = 1 << 20  # a process has at most 65,530 mappings unless its kernel was told otherwise


Mapping = Tuple[int, int, Optional[str], Optional[str]]  # start, end, permissions, name


class MemoryRange(NamedTuple):
    start: int
    end: int
    file_offset: int
    flags: int


class CoreFile(NamedTuple):
    path: Optional[str]
    ranges: List[MemoryRange]
    size: int = 0  # of the file
    whole: int = 0  # what the file's size would have to be for all of its segments


def read_core() -> CoreFile:
    """The path of the selected inferior's core file and the runs of memory that it has the bytes of."""
    path = _core_path()
    if path is None:
        return CoreFile(None, [])
    files = _MappedFiles()
    ranges = []
    whole = 0
    try:
        for start, size, offset, writable in _loaded_segments(path):
            whole = max(whole, offset + size)
            flags = library.RANGE_IN_CORE
            flags |= library.RANGE_WRITABLE if writable else 0
            flags |= library.RANGE_FILE_BACKED if files.contain(start) else 0
            ranges.append(MemoryRange(start, start + size, offset, flags))
    except (OSError, ValueError, struct.error):
        return CoreFile(path, [])  # the library reads through GDB
    return CoreFile(path, ranges, os.path.getsize(path), whole)


def _core_path() -> Optional[str]:
    corefile = getattr(gdb.selected_inferior(), "corefile", None)  # since GDB 17
    if corefile is not None:
        return corefile.filename
    # No section is called "-": this leaves the headings of the files, the executable's (if there is one) and then the core's.
    headings = _FILE.findall(gdb.execute("maint info sections -", to_string=True))
    return headings[-1] if headings else None


def _loaded_segments(path: str) -> Iterator[Tuple[int, int, int, bool]]:
    """(address, size in the file, offset in the file, writable) of each segment that has bytes."""
    with open(path, "rb") as core:
        header = core.read(_ELF_HEADER.size)
        if not header.startswith(_ELF_64_LITTLE):
            return
        _, _, _, _, table, sections, _, _, entry_size, count, _, _, _ = _ELF_HEADER.unpack(header)
        if count == _PN_XNUM:
            core.seek(sections + 44)
            (count,) = struct.unpack("<I", core.read(4))
        if entry_size != _PROGRAM_HEADER.size:
            return
        core.seek(table)
        headers = core.read(entry_size * min(count, _MOST_SEGMENTS))
    for kind, flags, offset, address, _, size, _, _ in _PROGRAM_HEADER.iter_unpack(headers):
        if kind == _PT_LOAD and size > 0:
            yield address, size, offset, bool(flags & _PF_W)


def read_process(process: int) -> List[MemoryRange]:
    """The readable memory of a live process, @p process if it runs on this machine (else 0); empty if nobody can list it."""
    ranges = []
    for start, end, permissions, name in _kernel_mappings(process) or _mappings():
        if permissions is not None and not permissions.startswith("r"):
            continue
        flags = library.RANGE_WRITABLE if permissions is not None and permissions[1] == "w" else 0
        flags |= library.RANGE_FILE_BACKED if name is not None and name.startswith("/") else 0
        ranges.append(MemoryRange(start, end, 0, flags))
    return ranges


class _MappedFiles:
    """Which addresses of a core were mappings of files."""

    def __init__(self) -> None:
        found = sorted((start, end) for start, end, _, name in _mappings() if name is not None and name.startswith("/"))
        self._starts = [start for start, _ in found]
        self._ends = [end for _, end in found]

    def contain(self, address: int) -> bool:
        index = bisect.bisect_right(self._starts, address) - 1
        return index >= 0 and address < self._ends[index]


def mapped_files() -> List[Tuple[int, int, str]]:
    """(start, end, path) of each mapping of a file, as the process called the file when it mapped it."""
    files = []
    for start, end, _, name in _mappings():
        if name is not None and name.startswith("/"):
            files.append((start, end, name[: -len(_DELETED)] if name.endswith(_DELETED) else name))
    return files


def _mappings() -> List[Mapping]:
    try:
        text = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:
        return []
    return [(int(match[1], 16), int(match[2], 16), match[3], match[4]) for match in _MAPPING.finditer(text)]


def _kernel_mappings(process: int) -> List[Mapping]:
    """As _mappings(), without the time that GDB takes to make a table of it. None of process 0."""
    try:
        # The kernel escapes a newline in a file's name, but no carriage return, which is to begin no line here either.
        with open(f"/proc/{process}/maps", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            text = file.read()
    except OSError:
        return []
    return [(int(match[1], 16), int(match[2], 16), match[3], match[4]) for match in _KERNEL_MAPPING.finditer(text)]


def section_addresses(name: str) -> List[int]:
    """Where the loaded sections called @p name stand, in every object file."""
    text = gdb.execute(f"maint info sections -all-objects {name}", to_string=True)
    addresses = []
    for match in _SECTION.finditer(text):
        flags = match[3].split()
        # An object file's separate debug file shows the section too, but without contents.
        if match[2] == name and "LOAD" in flags and "HAS_CONTENTS" in flags:
            addresses.append(int(match[1], 16))
    return sorted(set(addresses))
