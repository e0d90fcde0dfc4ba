"""Sessions of the library: one for each inferior, dropped as soon as its target may have changed."""

import ctypes
from typing import Any, Dict, List, Optional, Tuple, Union

import gdb

from . import library, operands, threads
from .arguments import Arguments
from .output import File, Terminal
from .target import Target

# GDB's events after which nothing that was read holds any more. GDB 13 has not all of them.
_CHANGES = (
    "cont", "stop", "exited", "inferior_call", "memory_changed", "register_changed", "new_thread", "thread_exited",
    "new_objfile", "clear_objfiles", "free_objfile", "executable_changed", "corefile_changed", "connection_removed",
    "inferior_deleted",
)  # fmt: skip

_COMPLETION_BYTES = 1 << 16


class Session:
    """The library's view of one inferior while it stands still."""

    def __init__(self, lib: ctypes.CDLL, arguments: Arguments) -> None:
        self.identity = _identity(arguments)
        self._library = lib
        self._target = Target(use_map=not arguments.no_map)
        self._handle = ctypes.c_void_p()
        status = lib.pa_session_create(ctypes.byref(self._target.structure), ctypes.byref(self._handle))
        if status != library.OK:
            self._handle = ctypes.c_void_p()
            raise gdb.GdbError("pyasync: out of memory" if status == library.NO_MEMORY else "pyasync: cannot open a session")

    def close(self) -> None:
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.pa_session_destroy(handle)

    def run(self, request: library.Request, output: Union[File, Terminal]) -> None:
        run = self._library.pa_session_run
        status = self._target.call(run, self._handle, ctypes.byref(request), write=output.write)
        if status == library.NO_MEMORY:
            raise gdb.GdbError("pyasync: out of memory, or more was found than pyasync takes")
        if status != library.OK:
            message = self._library.pa_session_error(self._handle) or b"pyasync failed"
            raise gdb.GdbError(message.decode("utf-8", "replace"))

    def complete(self, prefix: str) -> List[str]:
        """The names of tasks that begin with @p prefix."""
        buffer = ctypes.create_string_buffer(_COMPLETION_BYTES)
        complete = self._library.pa_session_complete
        count = self._target.call(complete, self._handle, prefix.encode("utf-8", "replace"), buffer, len(buffer))
        return [name.decode("utf-8", "replace") for name in buffer.raw.split(b"\0")[:count]]


class Sessions:
    """The sessions of all inferiors, and the one place that owns them."""

    def __init__(self) -> None:
        self._sessions: Dict[int, Session] = {}
        self._library: Optional[ctypes.CDLL] = None
        self._busy = False
        self._stale = False
        self._events = [getattr(gdb.events, name) for name in _CHANGES if hasattr(gdb.events, name)]
        for event in self._events:
            event.connect(self._target_changed)

    def unload(self) -> None:
        """Leave GDB as if this had never been loaded; the commands' next version comes."""
        for event in self._events:
            event.disconnect(self._target_changed)
        self._drop_all()

    def load_library(self) -> ctypes.CDLL:
        if self._library is None:
            self._library = library.load_library()
        return self._library

    def run(self, command: int, arguments: Arguments) -> None:
        """Answer one command. Raises gdb.GdbError, KeyboardInterrupt."""
        session = self._open(arguments)
        self._busy = True
        completed = False
        try:
            request = _request(command, arguments, session)
            output = File(arguments.output) if arguments.output else Terminal(allow_styles=not arguments.json)
            try:
                request.flags |= library.REQUEST_STYLED if output.styled else 0
                session.run(request, output)
                completed = True
            finally:
                output.close(completed)
        finally:
            self._busy = False
            if self._stale or not completed:
                self._drop_all()

    def complete(self, prefix: str) -> List[str]:
        """Names of tasks for completion; none if there is no target."""
        session = self._open(Arguments())
        self._busy = True
        completed = False
        try:
            names = session.complete(prefix)
            completed = True
            return names
        finally:
            self._busy = False
            if self._stale or not completed:
                self._drop_all()

    def _open(self, arguments: Arguments) -> Session:
        lib = self.load_library()
        _check_target()
        number = gdb.selected_inferior().num
        session = self._sessions.get(number)
        if session is not None and session.identity != _identity(arguments):
            self._drop_all()
            session = None
        if session is None:
            session = self._sessions[number] = Session(lib, arguments)
        return session

    def _target_changed(self, _event: Any) -> None:
        # GDB reads an object file's symbols when they are first needed, that is also while the library works on the session.
        if self._busy:
            self._stale = True
        else:
            self._drop_all()

    def _drop_all(self) -> None:
        self._stale = False
        while self._sessions:
            self._sessions.popitem()[1].close()


def _identity(arguments: Arguments) -> Tuple[object, ...]:
    """What a session depends on and no event tells: which process, and how it is read."""
    inferior = gdb.selected_inferior()
    return inferior.pid, inferior.connection_num, arguments.no_map, arguments.exhaustive


def _check_target() -> None:
    inferior = gdb.selected_inferior()
    if inferior.pid == 0 or not inferior.threads():
        raise gdb.GdbError("no process and no core: use `core FILE` or `attach PID`")
    running = threads.running_thread()
    if running is not None:
        raise gdb.GdbError(f"thread {running} is running: stop the process first (`interrupt -a`)")


def _request(command: int, arguments: Arguments, session: Session) -> library.Request:
    resolved = [operands.resolve(text, lambda name: name in session.complete(name)) for text in arguments.operands]
    array = (library.Operand * len(resolved))()
    for entry, operand in zip(array, resolved):
        entry.kind, entry.address, entry.text = operand.kind, operand.address, _encode(operand.text)
    return library.Request(
        command=command,
        format=library.FORMAT_JSON if arguments.json else library.FORMAT_TEXT,
        flags=arguments.flags,
        thread=arguments.thread,
        limit=arguments.limit,
        frames=arguments.frames,
        depth=arguments.depth,
        operand_count=len(resolved),
        operands=array,
        state=_encode(arguments.state),
        in_=_encode(arguments.in_),
    )


def _encode(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode("utf-8", "surrogateescape")
