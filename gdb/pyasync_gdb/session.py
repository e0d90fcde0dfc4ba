"""Sessions of the library: one for each inferior, dropped as soon as its target may have changed."""

import ctypes
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

import gdb

from . import library, operands
from .arguments import Arguments
from .output import File, Terminal
from .target import Target

# GDB's events after which nothing that was read holds any more. GDB 13 has not all of them.
_CHANGES = (
    "cont", "stop", "exited", "inferior_call", "memory_changed", "register_changed", "new_thread", "thread_exited",
    "new_objfile", "clear_objfiles", "free_objfile", "executable_changed", "corefile_changed", "connection_removed",
    "inferior_deleted",
)  # fmt: skip

Result = TypeVar("Result")

_COMPLETION_BYTES = 1 << 16


class Session:
    """The library's view of one inferior while it stands still."""

    def __init__(self, lib: ctypes.CDLL, inferior: Tuple[int, int], reading: Tuple[bool, bool]) -> None:
        self.inferior = inferior  # of which process or core it is: see _inferior()
        self.reading = reading  # --no-map, --exhaustive
        self.intact = True  # no call of the library has failed or was interrupted
        self._library = lib
        self._target = Target(use_map=not reading[0])
        self._handle = ctypes.c_void_p()
        status = lib.pa_session_create(ctypes.byref(self._target.structure), ctypes.byref(self._handle))
        if status != library.OK:
            self._handle = ctypes.c_void_p()
            raise gdb.GdbError("pyasync: out of memory" if status == library.NO_MEMORY else "pyasync: cannot open a session")

    def close(self) -> None:
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.pa_session_destroy(handle)

    def run(self, request: library.Request, write: Callable[[int, bytes], None]) -> None:
        """Print the answer to a request through @p write."""
        self.intact = False
        run = self._library.pa_session_run
        self._check(self._target.call(run, self._handle, ctypes.byref(request), write=write))
        self.intact = True

    def select(self, request: library.Request) -> Tuple[int, int]:
        """How many tasks a request selects, and the address of the first one, 0 if none. Raises gdb.GdbError for unknown names."""
        self.intact = False
        address, count = ctypes.c_uint64(), ctypes.c_uint64()
        select = self._library.pa_session_select
        status = self._target.call(select, self._handle, ctypes.byref(request), ctypes.byref(address), 1, ctypes.byref(count))
        self.intact = status in (library.OK, library.FAILED)
        self._check(status)
        return count.value, address.value

    def is_task_name(self, name: str) -> bool:
        try:
            return self.select(tasks_named(name))[0] > 0
        except gdb.GdbError:
            return False  # if there is more to say, the command itself will say it

    def _check(self, status: int) -> None:
        if status == library.NO_MEMORY:
            raise gdb.GdbError("pyasync: out of memory, or more was found than pyasync takes")
        if status != library.OK:
            message = self._library.pa_session_error(self._handle) or b"pyasync failed"
            raise gdb.GdbError(message.decode("utf-8", "replace"))

    def complete(self, prefix: str) -> List[str]:
        """The names of tasks that begin with @p prefix."""
        self.intact = False
        buffer = ctypes.create_string_buffer(_COMPLETION_BYTES)
        complete = self._library.pa_session_complete
        count = self._target.call(complete, self._handle, prefix.encode("utf-8", "replace"), buffer, len(buffer))
        self.intact = True
        return [name.decode("utf-8", "replace") for name in buffer.raw.split(b"\0")[:count]]


class Sessions:
    """The sessions of all inferiors, and the one place that owns them."""

    def __init__(self) -> None:
        self._sessions: Dict[int, Session] = {}
        self._library: Optional[ctypes.CDLL] = None
        self._busy = 0  # uses of sessions that go on: an operand may call $_py_task()
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
        self.load_library()
        _check_target()
        reading = (arguments.no_map, arguments.exhaustive)
        session = self._session()
        if session is None or session.reading != reading:
            session = self._open(reading)
        self._use(session, lambda: _answer(session, command, arguments))

    def complete(self, prefix: str, words: List[str]) -> List[str]:
        """Names of tasks for completion; none if there is no target. @p words stand before on the line."""
        self.load_library()
        _check_target()
        session = self._session() or self._open(("--no-map" in words, "--exhaustive" in words))
        return self._use(session, lambda: session.complete(prefix))

    def select(self, request: library.Request) -> Tuple[int, int]:
        """Session.select() of the selected inferior."""
        session = self._any_session()
        return self._use(session, lambda: session.select(request))

    def describe(self, address: int) -> str:
        """One line about the task or future at an address of the selected inferior. Raises gdb.GdbError if there is none."""
        if self._busy:
            raise gdb.GdbError("pyasync is reading already")
        session = self._any_session()
        parts: List[bytes] = []
        request = _request_of(library.COMMAND_DESCRIBE, [operands.TaskOperand(library.OPERAND_ADDRESS, "", address)])
        self._use(session, lambda: session.run(request, lambda _style, data: parts.append(data)))
        return b"".join(parts).decode("utf-8", "replace")

    def _any_session(self) -> Session:
        self.load_library()
        _check_target()
        return self._session() or self._open((False, False))

    def _session(self) -> Optional[Session]:
        """The session of the selected inferior, if it is still about the same process or core."""
        session = self._sessions.get(gdb.selected_inferior().num)
        return session if session is not None and session.inferior == _inferior() else None

    def _open(self, reading: Tuple[bool, bool]) -> Session:
        number = gdb.selected_inferior().num
        if number in self._sessions:
            self._sessions.pop(number).close()
        session = self._sessions[number] = Session(self.load_library(), _inferior(), reading)
        return session

    def _use(self, session: Session, work: Callable[[], Result]) -> Result:
        self._busy += 1
        try:
            return work()
        finally:
            self._busy -= 1
            if self._busy == 0 and (self._stale or not session.intact):
                self._drop_all()

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


def _inferior() -> Tuple[int, int]:
    """Which process or core is selected: a number of a connection is used once."""
    inferior = gdb.selected_inferior()
    return inferior.pid, inferior.connection_num or 0


def _check_target() -> None:
    inferior = gdb.selected_inferior()
    listed = inferior.threads()  # asks the target about each of them: only once
    if inferior.pid == 0 or not listed:
        raise gdb.GdbError("no process and no core: use `core FILE` or `attach PID`")
    architecture = inferior.architecture().name()
    if not architecture.startswith("i386:x86-64"):
        raise gdb.GdbError(f"the target's architecture is {architecture}: pyasync reads i386:x86-64 only")
    running = next((thread.num for thread in listed if thread.is_running()), None)
    if running is not None:
        raise gdb.GdbError(f"thread {running} is running: stop the process first (`interrupt -a`)")


def _answer(session: Session, command: int, arguments: Arguments) -> None:
    request = _request(session, command, arguments)
    output = File(arguments.output) if arguments.output else Terminal(allow_styles=arguments.format == library.FORMAT_TEXT)
    complete = False
    try:
        request.flags |= library.REQUEST_STYLED if output.styled else 0
        session.run(request, output.write)
        complete = True
    finally:
        output.close(complete)


def _request(session: Session, command: int, arguments: Arguments) -> library.Request:
    request = _request_of(command, [operands.resolve(text, session.is_task_name) for text in arguments.operands])
    request.format = arguments.format
    request.flags = arguments.flags
    request.thread = arguments.thread
    request.limit = arguments.limit
    request.frames = arguments.frames
    request.depth = arguments.depth
    request.value_depth = arguments.value_depth
    request.value_length = arguments.value_length
    request.state = _encode(arguments.state)
    request.in_ = _encode(arguments.in_)
    return request


def _request_of(command: int, tasks: List[operands.TaskOperand]) -> library.Request:
    """A request with operands and without options."""
    array = (library.Operand * len(tasks))()
    for entry, operand in zip(array, tasks):
        entry.kind, entry.address, entry.text = operand.kind, operand.address, _encode(operand.text)
    return library.Request(command=command, thread=library.THREAD_DEFAULT, operand_count=len(tasks), operands=array)


def tasks_named(name: str) -> library.Request:
    """A request for all tasks of this name, ended or not."""
    return _request_of(library.COMMAND_TASKS, [operands.TaskOperand(library.OPERAND_NAME, name)])


def tasks_in_state(state: str) -> library.Request:
    """A request for all tasks in a state or activity, as --state takes it."""
    request = _request_of(library.COMMAND_TASKS, [])
    request.state = _encode(state)
    return request


def _encode(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode("utf-8", "surrogateescape")
