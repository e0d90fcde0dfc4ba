"""The target's memory as GDB lists it: commands' output read by the position of their hex numbers, which no translation changes."""

import bisect
import re
from typing import List, NamedTuple, Optional, Tuple

import gdb

from . import library

# maint info sections:  [7]  0x00400000->0x00401000 at 0x00007000: load1a ALLOC LOAD READONLY HAS_CONTENTS
_SECTION = re.compile(r"^ *\[\d+\] +0x([0-9a-f]+)->0x([0-9a-f]+) at 0x([0-9a-f]+): (\S.*?) ((?:[A-Z_]+ ?)*)$", re.M)
# What stands above the sections of a file: Core file: `/tmp/core', file type elf64-x86-64.
_FILE = re.compile(r"^\S.*?[`'‘\"](/.*)['’\"], .*?[a-z0-9-]+\.$", re.M)
_SEGMENT_NAME = re.compile(r"load\d+[a-z]?$")

# info proc mappings:  0x400000  0x425000  0x25000  0x0  r--p  /usr/bin/python3.15   (permissions only if live, name not always)
_MAPPING = re.compile(r"^ *0x([0-9a-f]+) +0x([0-9a-f]+) +0x[0-9a-f]+ +0x[0-9a-f]+(?: +([r-][w-][x-][ps-]))?(?: +(\S.*?))? *$", re.M)


class MemoryRange(NamedTuple):
    start: int
    end: int
    file_offset: int
    flags: int


class CoreFile(NamedTuple):
    path: Optional[str]
    ranges: List[MemoryRange]


def read_core() -> CoreFile:
    """The path of the selected inferior's core file and the runs of memory that it has the bytes of."""
    text = gdb.execute("maint info sections", to_string=True)
    # The executable's sections come first, then the core's, which are called note0, load1, load2a, ...
    headings = list(_FILE.finditer(text))
    begin = headings[-1].end() if headings else 0
    files = _MappedFiles()
    ranges = []
    for match in _SECTION.finditer(text, begin):
        flags = match[5].split()
        if not _SEGMENT_NAME.match(match[4]) or "LOAD" not in flags:
            continue
        start, end, file_offset = int(match[1], 16), int(match[2], 16), int(match[3], 16)
        known = library.RANGE_IN_CORE
        known |= 0 if "READONLY" in flags else library.RANGE_WRITABLE
        known |= library.RANGE_FILE_BACKED if files.contain(start) else 0
        ranges.append(MemoryRange(start, end, file_offset, known))
    return CoreFile(_core_path(headings[-1][1] if headings else None), ranges)


def _core_path(from_sections: Optional[str]) -> Optional[str]:
    corefile = getattr(gdb.selected_inferior(), "corefile", None)  # since GDB 17
    return corefile.filename if corefile is not None else from_sections


def read_process() -> List[MemoryRange]:
    """The readable memory of a live process; empty if GDB cannot list it."""
    ranges = []
    for start, end, permissions, name in _mappings():
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


def _mappings() -> List[Tuple[int, int, Optional[str], Optional[str]]]:
    try:
        text = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:
        return []
    return [(int(match[1], 16), int(match[2], 16), match[3], match[4]) for match in _MAPPING.finditer(text)]


def section_addresses(name: str) -> List[int]:
    """Where the loaded sections called @p name stand, in every object file."""
    text = gdb.execute(f"maint info sections -all-objects {name}", to_string=True)
    addresses = []
    for match in _SECTION.finditer(text):
        flags = match[5].split()
        # An object file's separate debug file shows the section too, but without contents.
        if match[4] == name and "LOAD" in flags and "HAS_CONTENTS" in flags:
            addresses.append(int(match[1], 16))
    return sorted(set(addresses))
