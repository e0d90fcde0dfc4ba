"""
What the launcher must know of a core file before GDB opens it: whether it is one, whether it is whole, and which file was its
executable.

Everything in it is untrusted: sizes are bounded, and what does not parse is no answer. ELF: elf(5); notes: fs/binfmt_elf.c of
the kernel.
"""

import bisect
import io
import os
import stat
import struct
from typing import BinaryIO, Dict, Iterator, List, NamedTuple, Optional, Tuple

ELF_MAGIC = b"\x7fELF"
_IDENT_64_LITTLE = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16x2H I 3Q I 6H")  # Elf64_Ehdr
_PROGRAM = struct.Struct("<2I 6Q")  # Elf64_Phdr
_NOTE = struct.Struct("<3I")  # Elf64_Nhdr
_ET_EXEC, _ET_DYN, _ET_CORE = 2, 3, 4
_PT_LOAD, _PT_NOTE = 1, 4
_NT_AUXV, _NT_FILE, _NT_GNU_BUILD_ID = 6, 0x46494C45, 3
_AT_PHDR, _AT_ENTRY = 3, 9
_PN_XNUM = 0xFFFF  # the number of program headers stands in the first section header instead
_SECTION_INFO = 44  # Elf64_Shdr.sh_info
_MAX_SEGMENTS = 1 << 20
_MAX_MAPPINGS = 1 << 17  # twice what a process may have by default: vm.max_map_count
_MAX_NOTES = 256 << 20  # a process of 100,000 threads has 3 KB of registers each


class NotACore(Exception):
    """What the file is instead: a clause for "PATH …"."""


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int  # in the file


class Mapping(NamedTuple):
    """A line of NT_FILE."""

    start: int
    end: int
    offset: int  # in the file, bytes
    path: str


class Core(NamedTuple):
    whole_size: int  # what the headers promise
    segments: List[Segment]


def read_headers(stream: BinaryIO) -> Core:
    """Read the headers from the beginning of a core. Raises NotACore."""
    ident = stream.read(_HEADER.size)
    if not ident:
        raise NotACore("is an empty file: the disk was full, or the limit of core files was 0")
    if not ident.startswith(ELF_MAGIC):
        raise NotACore("is no core file")
    if not ident.startswith(_IDENT_64_LITTLE):
        raise NotACore("is a core of another machine: pyasync reads x86-64")
    if len(ident) < _HEADER.size:
        raise NotACore(f"is cut short within its first {_HEADER.size} bytes: nothing can be read")
    kind, _, _, _, table, sections, _, _, entry, count, section_size, section_count, _ = _HEADER.unpack(ident)
    if kind != _ET_CORE:
        what = "a program or library" if kind in (_ET_EXEC, _ET_DYN) else "an object file"
        raise NotACore(f"is no core file but {what}")
    if count == _PN_XNUM:
        count = _extended_count(stream, sections)
    if entry != _PROGRAM.size or count > _MAX_SEGMENTS:
        raise NotACore("is a damaged core: its list of segments makes no sense")
    _skip(stream, table)
    headers = stream.read(entry * count)
    if len(headers) < entry * count:
        raise NotACore("is cut short within the list of its segments: nothing can be read")
    segments = [Segment(kind, offset, address, size) for kind, _, offset, address, _, size, _, _ in _PROGRAM.iter_unpack(headers)]
    ends = [segment.offset + segment.size for segment in segments]
    if sections:
        ends.append(sections + section_size * section_count)
    return Core(max([table + entry * count, *ends]), segments)


def _extended_count(stream: BinaryIO, sections: int) -> int:
    if not stream.seekable():
        raise NotACore("is a core of more than 65,534 segments: unpack it first")
    data = _read_at(stream, sections + _SECTION_INFO, 4)
    if len(data) < 4:
        raise NotACore("is cut short: the list of its segments stands at its end, which is missing")
    return struct.unpack("<I", data)[0]


def _skip(stream: BinaryIO, position: int) -> None:
    """Go from behind the first header to @p position, also where it can only be read up to there."""
    left = position - _HEADER.size
    if left < 0 or left > _MAX_NOTES:
        raise NotACore("is a damaged core: its list of segments makes no sense")
    if stream.seekable():
        stream.seek(position)
    else:
        stream.read(left)


def _read_at(stream: BinaryIO, offset: int, length: int) -> bytes:
    """Bytes of a file; none at a place where no file can have any."""
    try:
        stream.seek(offset)
    except (OSError, OverflowError, ValueError):
        return b""
    return stream.read(length)


class CoreFile:
    """An open core. Use as a context manager."""

    def __init__(self, path: str) -> None:
        """Raises NotACore, OSError."""
        # A FIFO would wait for ever for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._stream = io.open(descriptor, "rb")
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotACore("is no regular file")
            self.size = os.fstat(descriptor).st_size
            self.headers = read_headers(self._stream)
        except BaseException:
            self._stream.close()
            raise
        loaded = (segment for segment in self.headers.segments if segment.kind == _PT_LOAD and segment.size > 0)
        self._loaded = sorted(loaded, key=lambda segment: segment.address)
        self._starts = [segment.address for segment in self._loaded]
        self._notes = self._read_notes()

    def __enter__(self) -> "CoreFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @property
    def whole_size(self) -> int:
        return self.headers.whole_size

    def executable(self) -> Optional[Mapping]:
        """
        Where the executable was mapped: the mapping with its program headers, which the kernel tells the process by AT_PHDR.
        Neither argv[0] nor the name in AT_EXECFN will do: a script's are the script's, a link's are the link's.
        """
        auxv = self._notes.get(_NT_AUXV, b"")
        values = dict(struct.iter_unpack("<2Q", auxv[: len(auxv) // 16 * 16]))
        mappings = self.mappings()
        for key in (_AT_PHDR, _AT_ENTRY):
            for mapping in mappings:
                if mapping.start <= values.get(key, 0) < mapping.end:
                    # Its first mapping: a file is mapped in pieces.
                    return next(first for first in mappings if first.path == mapping.path)
        return None

    def mappings(self) -> List[Mapping]:
        """The files that the process had mapped."""
        note = self._notes.get(_NT_FILE, b"")
        if len(note) < 16:
            return []
        count, page = struct.unpack_from("<2Q", note)
        if count > min((len(note) - 16) // 24, _MAX_MAPPINGS):
            return []
        names = note[16 + 24 * count :].split(b"\0")
        places = struct.iter_unpack("<3Q", note[16 : 16 + 24 * count])
        return [Mapping(start, end, offset * page, os.fsdecode(name)) for (start, end, offset), name in zip(places, names)]

    def build_id(self, mapping: Mapping) -> Optional[str]:
        """The build-id of a mapped file, if its first page is in the core (coredump_filter bit 4, on by default)."""
        if mapping.offset != 0:
            return None
        return _build_id(lambda offset, length: self.memory(mapping.start + offset, length))

    def memory(self, address: int, length: int) -> bytes:
        """Bytes of the process; fewer or none where the core has them not."""
        index = bisect.bisect_right(self._starts, address) - 1
        left = self._loaded[index].address + self._loaded[index].size - address if index >= 0 else 0
        return self._read(self._loaded[index].offset + address - self._starts[index], min(length, left)) if left > 0 else b""

    def _read(self, offset: int, length: int) -> bytes:
        return _read_at(self._stream, offset, length)

    def _read_notes(self) -> Dict[int, bytes]:
        """The first note of each kind."""
        notes: Dict[int, bytes] = {}
        segment = next((segment for segment in self.headers.segments if segment.kind == _PT_NOTE), None)  # a core has one
        if segment is not None and segment.size <= _MAX_NOTES:
            for owner, kind, data in _notes(self._read(segment.offset, segment.size)):
                if owner == b"CORE":
                    notes.setdefault(kind, data)
        return notes


def _notes(data: bytes) -> Iterator[Tuple[bytes, int, bytes]]:
    """(owner, kind, description) of each note that is whole."""
    position = 0
    while position + _NOTE.size <= len(data):
        name_size, size, kind = _NOTE.unpack_from(data, position)
        name = position + _NOTE.size
        start = name + (name_size + 3) // 4 * 4
        if start + size > len(data):
            return
        yield data[name : name + name_size].rstrip(b"\0"), kind, data[start : start + size]
        position = start + (size + 3) // 4 * 4


def _build_id(read) -> Optional[str]:
    """The build-id of an ELF file, of which @p read(offset, length) gives bytes."""
    header = read(0, _HEADER.size)
    if len(header) < _HEADER.size or not header.startswith(_IDENT_64_LITTLE):
        return None
    _, _, _, _, table, _, _, _, entry, count, _, _, _ = _HEADER.unpack(header)
    if entry != _PROGRAM.size:
        return None
    programs = read(table, entry * min(count, 256))
    for kind, _, offset, _, _, size, _, _ in _PROGRAM.iter_unpack(programs[: len(programs) // entry * entry]):
        if kind == _PT_NOTE and size < 1 << 16:
            for owner, note, data in _notes(read(offset, size)):
                if owner == b"GNU" and note == _NT_GNU_BUILD_ID:
                    return data.hex()
    return None


def build_id_of(path: str) -> Optional[str]:
    """The build-id of a file; None if it has none, or is not there or no regular ELF file."""
    with _regular_file(path) as stream:
        return _build_id(lambda offset, length: _read_at(stream, offset, length))


def is_elf(path: str) -> bool:
    with _regular_file(path) as stream:
        return stream.read(4) == ELF_MAGIC


def _regular_file(path: str) -> BinaryIO:
    """A file to read; an empty one if it is none or cannot be read. A FIFO or a device might wait for ever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return io.BytesIO()
    stream = io.open(descriptor, "rb")
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return stream
    stream.close()
    return io.BytesIO()
