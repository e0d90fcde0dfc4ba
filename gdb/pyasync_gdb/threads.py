"""The threads of the selected inferior and what stopped it."""

import re
import signal
from typing import List, NamedTuple, Optional

import gdb

from .borrow import with_any_thread

# How a debugger stops a process; no news about the process itself.
_STOPPED_BY_DEBUGGER = ("SIGSTOP", "SIGTRAP", "SIGINT")


class Thread(NamedTuple):
    number: int
    lwp: int
    pthread_id: int
    name: str


def list_threads() -> List[Thread]:
    """All threads, in the order of their numbers. Selects each in turn, as only the selected thread's registers can be read."""
    if gdb.selected_inferior().threads() == (gdb.selected_thread(),):
        return _visit_threads()  # nothing to give back
    return with_any_thread(_visit_threads)


def _visit_threads() -> List[Thread]:
    threads = []
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
        pthread_id = 0
        if not thread.is_exited() and not thread.is_running():
            if thread != gdb.selected_thread():
                thread.switch()
            pthread_id = _fs_base()
        threads.append(Thread(thread.num, thread.ptid[1] or thread.ptid[2], pthread_id, thread.name or ""))
    return threads


def _fs_base() -> int:
    """pthread_self() of the selected thread: on x86-64 the address that the segment register fs points to."""
    # Not gdb.newest_frame().read_register(): for that GDB looks for the debug data of where the thread stands.
    return (_evaluate("$fs_base") or 0) & (2**64 - 1)


def core_signal() -> Optional[str]:
    """The signal that a core's process died of."""
    # $_exitsignal is set for the core that was opened last; $_siginfo depends on the thread, and gcore writes SIGSTOP there.
    number = None
    if len(gdb.inferiors()) == 1:
        number = _evaluate("$_exitsignal")
    if number is None:
        number = _evaluate("$_siginfo.si_signo")
    name = _signal_name(number) if number else None
    return None if name == "SIGSTOP" else name


class SignalInfo(NamedTuple):
    """What the kernel said of the signal: siginfo_t."""

    code: int
    address: int
    pid: int
    uid: int


def signal_info(number: int) -> Optional[SignalInfo]:
    """Of the signal that GDB's thread @p number got; None if the debugger has none."""
    thread = next((thread for thread in gdb.selected_inferior().threads() if thread.num == number), None)

    def read() -> Optional[SignalInfo]:
        if thread is None or thread.is_exited() or thread.is_running():
            return None
        thread.switch()
        info = "$_siginfo._sifields"
        values = [_evaluate(f"(long) {each}") for each in (
            "$_siginfo.si_code", f"{info}._sigfault.si_addr", f"{info}._kill.si_pid", f"{info}._kill.si_uid"
        )]  # fmt: skip
        return SignalInfo(*[value or 0 for value in values]) if values[0] is not None else None

    return with_any_thread(read)


def live_signal() -> Optional[str]:
    """The signal that stopped a live process, unless the debugger or its user did."""
    try:
        text = gdb.execute("info program", to_string=True)
    except gdb.error:
        return None
    match = re.search(r"\bSIG[A-Z0-9]+\b", text)
    return match[0] if match and match[0] not in _STOPPED_BY_DEBUGGER else None


def _evaluate(expression: str) -> Optional[int]:
    try:
        value = gdb.parse_and_eval(expression)
        return None if value.type.code == gdb.TYPE_CODE_VOID else int(value)
    except (gdb.error, ValueError):
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
