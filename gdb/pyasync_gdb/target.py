"""struct pa_target, filled in: what the library asks about the process or core that GDB has selected."""

import contextlib
import ctypes
import os
import signal
from typing import Any, Callable, List, Optional, Tuple

import gdb

from . import identity, library, memory_map, native, objects, threads
from .borrow import with_setting
from .source import SourceFiles

_INTERRUPT = {signal.SIGINT}


class Target:
    """The selected inferior. Keeps everything alive that `structure` points to."""

    def __init__(self, use_map: bool) -> None:
        self._inferior = gdb.selected_inferior()
        self._threads: Optional[List[threads.Thread]] = None
        self._ranges: Optional[List[memory_map.MemoryRange]] = None
        self._source = SourceFiles()
        self._files: Optional[objects.MappedFiles] = None
        self._checked: Optional[List[objects.ObjectFile]] = None
        self._core_size = self._core_whole = 0
        self._strings: List[bytes] = []  # what the last answer about native frames points to
        self._error: Optional[BaseException] = None
        self._write: Optional[Callable[[int, bytes], None]] = None
        self._last_read: Any = None
        connection = self._inferior.connection
        self._is_core = is_core = connection is not None and connection.type == "core"
        self._process = process = _process_here()
        core_path = None
        if is_core:
            core = memory_map.read_core()
            core_path, self._ranges = core.path, core.ranges
            self._core_size, self._core_whole = core.size, core.whole
        self.structure = library.Target(
            abi_version=library.ABI_VERSION,
            flags=library.TARGET_CORE if is_core else library.TARGET_LIVE | _clock(process),
            core_path=_encode(core_path) if use_map else None,
            core_name=_encode(core_path),
            executable=_encode(self._inferior.progspace.filename or identity.executable(self._mapped_files())),
            signal=_encode(threads.core_signal() if is_core else threads.live_signal()),
            debugger=_encode(gdb.VERSION),
            pid=self._inferior.pid,
            read=library.ReadFunction(self._guarded(self._read)),
            sections=library.SectionsFunction(self._guarded(self._sections, library.ABORTED_COUNT)),
            symbol=library.SymbolFunction(self._guarded(self._symbol)),
            member_offset=library.MemberOffsetFunction(self._guarded(self._member_offset, library.ABORTED_COUNT)),
            ranges=library.RangesFunction(self._guarded(self._list_ranges, library.ABORTED_COUNT)),
            threads=library.ThreadsFunction(self._guarded(self._list_threads, library.ABORTED_COUNT)),
            source_line=library.SourceLineFunction(self._guarded(self._source_line)),
            write=library.WriteFunction(self._guarded(self._print)),
            poll=library.PollFunction(self._guarded(self._poll)),
            symbol_at=library.SymbolAtFunction(self._guarded(self._symbol_at)),
            process=process if use_map else 0,
            native_frames=library.NativeFramesFunction(self._guarded(self._native_frames, library.ABORTED_COUNT)),
            file_at=library.FileAtFunction(self._guarded(self._file_at)),
            stop=library.StopFunction(self._guarded(self._stop)),
            object_files=library.ObjectFilesFunction(self._guarded(self._object_files, library.ABORTED_COUNT)),
            process_state=library.ProcessStateFunction(self._guarded(self._process_state, library.ABORTED_COUNT)),
            arguments=library.ArgumentsFunction(self._guarded(self._arguments, library.ABORTED_COUNT)),
        )

    def call(self, function: Callable[..., int], *arguments: Any, write: Optional[Callable[[int, bytes], None]] = None) -> int:
        """
        Call @p function of the library, which calls back. Raises what a callback raised.

        SIGINT is held back while the library runs and let in by each callback inside its own `try`: Python would otherwise raise
        KeyboardInterrupt at the callback's first instruction, where nothing can catch it and ctypes only prints it.
        """
        self._error = None
        self._write = write
        self._source = SourceFiles()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
            status = function(*arguments)
        finally:
            self._write = None
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if self._error is not None:
            raise self._error
        return status

    def _guarded(self, function: Callable[..., int], aborted: int = library.ABORTED) -> Callable[..., int]:
        def callback(*arguments: Any) -> int:
            if self._error is not None:
                return aborted
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
                try:
                    return function(*arguments)
                finally:
                    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
            except BaseException as error:  # also KeyboardInterrupt: nothing may be raised into the library
                self._error = error
                with contextlib.suppress(KeyboardInterrupt):  # pressed twice: one is enough, and the mask has changed already
                    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
                return aborted

        return callback

    def _read(self, address: int, length: int, buffer: int) -> int:
        try:
            memory = self._inferior.read_memory(address, length)
        except gdb.error:  # gdb.MemoryError, mostly
            return library.UNREADABLE
        # Copied from GDB's buffer itself where it is writable: a bytes object in between takes as long as the read.
        data = memory.tobytes() if memory.readonly else (ctypes.c_char * length).from_buffer(memory)
        ctypes.memmove(buffer, data, length)
        # GDB allocates a buffer a read. With the last one still there the C library cannot give its pages back each time,
        # to fault them in again for the next.
        self._last_read = memory
        return library.OK

    def _sections(self, name: bytes, addresses: Any, capacity: int) -> int:
        found = memory_map.section_addresses(name.decode())
        for index, address in enumerate(found[:capacity]):
            addresses[index] = address
        return len(found)

    def _symbol(self, name: bytes, address: Any) -> int:
        # 'NAME' in C finds minimal symbols (.dynsym of a stripped file) as well; the user's language may quote in another way.
        def evaluate() -> gdb.Value:
            return gdb.parse_and_eval(f"&'{name.decode()}'")

        try:
            value = with_setting("language", "c", evaluate)
        except gdb.error:
            return library.UNREADABLE
        address[0] = int(value) & (2**64 - 1)
        return library.OK

    def _symbol_at(self, address: int, name: bytes) -> int:
        # "0xbeb120 <PyDict_Type>", from minimal symbols: no debug data is expanded for it. (`info symbol` ends GDB 18 if a file has
        # no section headers.)
        symbol = gdb.format_address(address).partition(" <")[2].split(" at ")[0].rstrip(">")
        return library.OK if symbol == name.decode() else library.UNREADABLE

    def _member_offset(self, type_name: bytes, path: bytes) -> int:
        found = _lookup_type(type_name.decode())
        offset = 0
        for name in path.decode().split("."):
            step = _find_member(found, name) if found is not None else None
            if step is None:
                return -1
            offset += step[0]
            found = step[1]
        return offset // 8

    def _list_ranges(self, ranges: Any, capacity: int) -> int:
        if self._ranges is None:
            self._ranges = memory_map.read_process(self._process)
        for index, found in enumerate(self._ranges[:capacity]):
            ranges[index] = library.Range(found.start, found.end, found.file_offset, found.flags, 0)
        return len(self._ranges)

    def _list_threads(self, infos: Any, capacity: int) -> int:
        if self._threads is None:
            self._threads = threads.list_threads()
        selected = gdb.selected_thread()
        number = selected.num if selected is not None else 0
        for index, thread in enumerate(self._threads[:capacity]):
            # 31 bytes for the name, cut between characters; ctypes adds the NUL.
            name = thread.name.encode("utf-8", "replace")[:31].decode("utf-8", "ignore").encode()
            infos[index] = library.ThreadInfo(thread.number, thread.number == number, thread.lwp, thread.pthread_id, name)
        return len(self._threads)

    def _source_line(self, file: bytes, number: int, buffer: int, capacity: int) -> int:
        line = self._source.line(file.decode("utf-8", "surrogateescape"), number)
        if line is None or capacity == 0:
            return library.UNREADABLE
        text = line.encode()[: capacity - 1].decode("utf-8", "ignore").encode() + b"\0"
        ctypes.memmove(buffer, text, len(text))
        return library.OK

    def _mapped_files(self) -> objects.MappedFiles:
        if self._files is None:
            self._files = objects.MappedFiles(self._is_in_core)
        return self._files

    def _native_frames(self, number: int, frames: Any, capacity: int, stopped: Any) -> int:
        stack = native.unwind(number, capacity, self._mapped_files())
        if stack is None:
            return library.UNKNOWN_COUNT
        self._strings = []
        for index, frame in enumerate(stack.frames):
            flags = (library.NATIVE_DEBUG if frame.debug else 0) | (library.NATIVE_GUESS if frame.guess else 0)
            function, file = self._keep(frame.function), self._keep(frame.file)
            frames[index] = library.NativeFrame(frame.pc, frame.sp, function, file, frame.line, flags)
        stopped[0] = self._keep(stack.stopped)
        return len(stack.frames)

    def _keep(self, text: Optional[str]) -> Optional[bytes]:
        """The text as bytes that stay as long as the library may look at them."""
        if text is None:
            return None
        self._strings.append(text.encode("utf-8", "replace"))
        return self._strings[-1]

    def _file_at(self, address: int, buffer: int, capacity: int) -> int:
        path = self._mapped_files().path_at(address)
        if path is None:
            return library.UNREADABLE
        return _copy(os.fsencode(path), buffer, capacity)

    def _is_in_core(self, address: int) -> bool:
        ranges = self._ranges or []
        if not ranges or not ranges[0].flags & library.RANGE_IN_CORE:
            return True  # a live process, or a core whose list GDB alone can read
        return any(each.start <= address < each.end and each.file_offset < self._core_size for each in ranges)

    def _stop(self, number: int, stop: Any) -> int:
        stop[0] = library.Stop(core_size=self._core_size, core_whole=self._core_whole)
        info = threads.signal_info(number)
        if info is not None:
            stop[0].has_info = 1
            stop[0].code, stop[0].address = info.code, info.address & (2**64 - 1)
            stop[0].pid, stop[0].uid = info.pid & (2**32 - 1), info.uid & (2**32 - 1)
        return library.OK

    def _object_files(self, files: Any, capacity: int) -> int:
        if self._checked is None:
            self._checked = self._mapped_files().check()
        self._strings = []
        for index, file in enumerate(self._checked[:capacity]):
            texts = [self._keep(text) for text in (file.path, file.build_id, file.file_build_id)]
            files[index] = library.ObjectFile(*texts, file.state, 0)
        return len(self._checked)

    def _print(self, style: int, address: int, length: int) -> int:
        if self._write is not None:
            self._write(style, ctypes.string_at(address, length))
        return library.OK

    def _process_state(self, pid: int) -> int:
        # The target's number of a process is ours if we are in one PID namespace.
        process = _process_here()
        if process == 0 or not _shares_pids(process):
            return -1
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                stat = file.read()
        except (FileNotFoundError, ProcessLookupError):
            return 0
        except OSError:
            return -1
        return stat[stat.rindex(b")") + 2]  # PID (COMMAND) STATE

    def _arguments(self, buffer: int, capacity: int, cut: Any) -> int:
        found = identity.arguments(self._process, self._is_core)
        if found is None:
            return library.UNKNOWN_COUNT
        text = b"".join(word + b"\0" for word in found.words)
        ctypes.memmove(buffer, text[:capacity], min(len(text), capacity))
        cut[0] = found.cut
        return len(text)

    def _poll(self) -> int:
        # Letting SIGINT in, which _guarded does, is all: GDB's handler makes Python raise KeyboardInterrupt.
        return library.OK


def _process_here() -> int:
    """The selected process, if it runs on this machine and its memory now is what GDB shows; 0: it is not so."""
    inferior, thread = gdb.selected_inferior(), gdb.selected_thread()
    is_here = inferior.connection is not None and inferior.connection.type == "native"
    # A recording may be replayed: then GDB shows memory as it was.
    return thread.ptid[0] if is_here and thread is not None and gdb.current_recording() is None else 0


def _clock(process: int) -> int:
    """Whether a process that runs here has this host's CLOCK_MONOTONIC: it is in the same time namespace."""
    if process == 0:
        return 0
    try:
        same = os.readlink(f"/proc/{process}/ns/time") == os.readlink("/proc/self/ns/time")
    except OSError:  # a kernel without time namespaces has one clock
        same = os.path.exists("/proc/self/ns") and not os.path.exists("/proc/self/ns/time")
    return library.TARGET_OWN_CLOCK if same else 0


def _shares_pids(process: int) -> bool:
    """Whether a process that runs here is in the PID namespace that GDB is in, and sees."""
    try:
        return os.readlink(f"/proc/{process}/ns/pid") == os.readlink("/proc/self/ns/pid")
    except OSError:
        return False


def _copy(text: bytes, buffer: int, capacity: int) -> int:
    if len(text) >= capacity:
        return library.UNREADABLE
    ctypes.memmove(buffer, text + b"\0", len(text) + 1)
    return library.OK


def _encode(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else os.fsencode(text)


def _lookup_type(name: str) -> Optional[gdb.Type]:
    for spelling in (name, f"struct {name}"):
        try:
            return gdb.lookup_type(spelling).strip_typedefs()
        except gdb.error:
            pass
    return None


def _find_member(structure: gdb.Type, name: str) -> Optional[Tuple[int, gdb.Type]]:
    """The offset in bits and the type of a member, looking into anonymous structures and unions."""
    if structure.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return None
    for field in structure.fields():
        if not hasattr(field, "bitpos"):
            continue  # static
        kind = field.type.strip_typedefs()
        if field.name == name:
            return field.bitpos, kind
        if not field.name:
            inner = _find_member(kind, name)
            if inner is not None:
                return field.bitpos + inner[0], inner[1]
    return None
