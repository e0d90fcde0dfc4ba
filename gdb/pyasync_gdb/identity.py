"""What GDB knows of which process this is, where no file and no interpreter tells: its arguments, its executable."""

import os
import re
import struct
from typing import List, NamedTuple, Optional, Tuple

import gdb

from .objects import MappedFiles

# info proc (of a core):  exe = '/usr/bin/python3 -m app'        info proc cmdline (of a live process):  cmdline = '…'
_QUOTED = re.compile(r"^\S+ = '(.*)'\s*\Z", re.M | re.S)
# info auxv:  3    AT_PHDR              Program headers for program    0x400040
#             31   AT_EXECFN            File name of executable        0x7fff0123dfef "./app"
_AUXILIARY = re.compile(r"^(\d+) +\S+ .*? (0x[0-9a-f]+|\d+)(?: \".*)?$", re.M)
_AT_PHDR, _AT_RANDOM, _AT_EXECFN = 3, 25, 31
# include/linux/elfcore.h: a core has this many bytes of the arguments, the last one a NUL, with blanks between them.
_ELF_PRARGSZ = 80
_MOST = 1 << 20  # bytes that are read of a process's arguments, and of pointers to them
_BLOCK = 1 << 12


class Arguments(NamedTuple):
    words: List[bytes]
    cut: bool  # there were more


def arguments(process: int, is_core: bool) -> Optional[Arguments]:
    """The arguments of the selected inferior. @p process is its number if it runs on this machine, else 0."""
    if process:
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                return _split(file.read(_MOST + 1))
        except OSError:
            return None
    text = _text_on_stack() if is_core else None
    if text is not None:
        return _split(text)
    match = _QUOTED.search(_ask("info proc" if is_core else "info proc cmdline"))
    if match is None:
        return None
    text = os.fsencode(match[1])
    words = text.split(b" ")
    # Nobody can say of half a word whether it is a secret.
    cut = is_core and len(text) >= _ELF_PRARGSZ - 1
    return Arguments(words[:-1] if cut else words, cut)


def _split(text: bytes) -> Arguments:
    """Arguments that have a NUL each; of one that is cut none is taken."""
    return Arguments(text[:_MOST].split(b"\0")[:-1], len(text) > _MOST)


def _text_on_stack() -> Optional[bytes]:
    """
    The arguments as the kernel has put them on the stack of a new program, if they still stand there, each with its NUL.

    From low to high: their number, pointers to them, 0, pointers to the environment, 0, the auxiliary vector; then the strings in
    that order, and the name of the executable. None of the environment is taken for an argument: each string must begin where a
    pointer says, and the last one end before the environment. fs/binfmt_elf.c of the kernel, create_elf_tables().
    """
    auxiliary = _auxiliary()
    values = dict(auxiliary)
    if len(auxiliary) < 2 or _AT_RANDOM not in values or _AT_EXECFN not in values:
        return None
    pattern = struct.pack("<4Q", *auxiliary[0], *auxiliary[1])
    low = values[_AT_RANDOM] - 4 * _BLOCK  # the vector ends not far below the random bytes
    place = _read(low, 4 * _BLOCK).rfind(pattern)
    found = _pointers(low + place) if place >= 0 else None
    if found is None:
        return None
    starts, environment = sorted(found[0]), found[1]  # getopt(3) may have sorted them in another way
    end = values[_AT_EXECFN]
    behind = [pointer for pointer in environment if starts[-1] < pointer < end]
    if not low < starts[0] <= starts[-1] < end or (environment and not behind):
        return None
    text = _read(starts[0], min(min(behind, default=end) - starts[0], _MOST + 1))
    begins = [starts[0], *(starts[0] + match.end() for match in re.finditer(b"\0", text))]
    if not text or (begins[-1] != starts[0] + len(text) and len(text) <= _MOST) or begins[:-1] != starts[: len(begins) - 1]:
        return None
    return text if len(text) > _MOST or len(begins) - 1 == len(starts) else None


def _pointers(vector: int) -> Optional[Tuple[List[int], List[int]]]:
    """What stands before the auxiliary vector: the pointers to arguments and to the environment."""
    lists: List[List[int]] = [[], [], []]
    at = 0
    for place in range(vector - _BLOCK, vector - _MOST, -_BLOCK):
        block = _read(place, _BLOCK)
        for (word,) in reversed(list(struct.iter_unpack("<Q", block[: len(block) // 8 * 8]))):
            if at == 2 and word == len(lists[2]) > 0:
                return lists[2], lists[1]
            if word == 0:
                at += 1
                if at > 2:
                    return None
            else:
                lists[at].append(word)
        if not block or lists[0]:
            return None
    return None


def _read(address: int, length: int) -> bytes:
    try:
        return gdb.selected_inferior().read_memory(address, length).tobytes()
    except (gdb.error, OverflowError, ValueError):
        return b""


def executable(files: MappedFiles) -> Optional[str]:
    """The file that has the program headers of which the kernel told the process, as the process called it."""
    address = dict(_auxiliary()).get(_AT_PHDR)
    return files.path_at(address) if address is not None else None


def _auxiliary() -> List[Tuple[int, int]]:
    """The auxiliary vector, in its order."""
    return [(int(match[1]), int(match[2], 0)) for match in _AUXILIARY.finditer(_ask("info auxv"))]


def _ask(command: str) -> str:
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error:
        return ""
