"""What GDB knows of which process this is, where no file and no interpreter tells: its arguments, its executable."""

import os
import re
from typing import List, NamedTuple, Optional

import gdb

from .objects import MappedFiles

# info proc (of a core):  exe = '/usr/bin/python3 -m app'        info proc cmdline (of a live process):  cmdline = '…'
_QUOTED = re.compile(r"^\S+ = '(.*)'\s*\Z", re.M | re.S)
# info auxv:  3    AT_PHDR              Program headers for program    0x400040
_PROGRAM_HEADERS = re.compile(r"^3 +AT_PHDR .* 0x([0-9a-f]+)$", re.M)
# include/linux/elfcore.h: a core has this many bytes of the arguments, the last one a NUL, with blanks between them.
_ELF_PRARGSZ = 80
_MOST = 1 << 20  # bytes that are read of a process's arguments


class Arguments(NamedTuple):
    words: List[bytes]
    cut: bool  # there were more


def arguments(process: int, is_core: bool) -> Optional[Arguments]:
    """The arguments of the selected inferior. @p process is its number if it runs on this machine, else 0."""
    if process:
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                text = file.read(_MOST)
        except OSError:
            return None
        words = text.split(b"\0")
        return Arguments(words[:-1], len(text) == _MOST)
    match = _QUOTED.search(_ask("info proc" if is_core else "info proc cmdline"))
    if match is None:
        return None
    text = os.fsencode(match[1])
    words = text.split(b" ")
    # Nobody can say of half a word whether it is a secret.
    cut = is_core and len(text) >= _ELF_PRARGSZ - 1
    return Arguments(words[:-1] if cut else words, cut)


def executable(files: MappedFiles) -> Optional[str]:
    """The file that has the program headers of which the kernel told the process, as the process called it."""
    match = _PROGRAM_HEADERS.search(_ask("info auxv"))
    return files.path_at(int(match[1], 16)) if match is not None else None


def _ask(command: str) -> str:
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error:
        return ""
