"""
--run: the command as GDB's child, which needs no core pattern, no limit of cores and no permission to attach.

GDB has a process group of its own. The command is moved to ours, so that a terminal's signals reach it as always and GDB not at
all; what is sent to us alone is passed on.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional

from . import children, debugger
from .options import NOTHING
from .targets import Target, Told
from .text import one_line
from .triage import deliver

TIMED_OUT = 124  # as timeout(1)
_PASSED = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
_WAITED = _PASSED | {signal.SIGCHLD}


def supervise(options: Any) -> int:
    """Run the command. Returns its exit status, or why it has none. Raises debugger.GdbMissing."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
    with tempfile.TemporaryDirectory(prefix="pyasync-", dir=options.tmp) as folder:
        events, writer = os.pipe()
        streams = [os.dup(number) for number in range(3)]
        debugger.write_job(
            folder, options, kind="run", events=writer, streams=streams, close=[writer], command=options.command,
            environment=dict(os.environ), working_directory=os.getcwd(), process_group=os.getpgrp(),
            blocked_signals=sorted(blocked), default_signals=["SIGPIPE", "SIGXFSZ"], memory_limit=options.memory_limit << 20,
        )  # fmt: skip
        # The child that becomes the command is this Python; -I and -S: nothing of the user's runs in it.
        trampoline = ["--args", os.path.realpath(sys.executable), "-I", "-S", "child.py"]
        os.symlink(os.path.join(os.path.dirname(os.path.realpath(__file__)), "child.py"), os.path.join(folder, "child.py"))
        command = debugger.command_line(options, options.sysroot, *trampoline)
        with open(os.path.join(folder, "gdb.log"), "xb") as log:
            process = debugger.start(
                command, folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[*streams, writer], preexec_fn=_own_group,
            )  # fmt: skip
        for descriptor in [*streams, writer]:
            os.close(descriptor)
        try:
            watch = _Watch(process, events, folder, options)
            watch.until_the_end()
        finally:
            children.end(process)
        answer = debugger.answer(process, folder, options, watch.failure)
    return _finish(answer, options)


def _own_group() -> None:
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)


class _Watch:
    """Waits for the end of GDB, passes signals on, and stops the command when its time is over."""

    def __init__(self, process: Any, events: int, folder: str, options: Any) -> None:
        self._process, self._events, self._folder, self._options = process, events, folder, options
        self._pid: Optional[int] = None
        self._pending: List[int] = []
        self.failure: Optional[str] = None
        os.set_blocking(events, False)

    def until_the_end(self) -> None:
        over = time.monotonic() + self._options.timeout if self._options.timeout else None
        while self._process.poll() is None:
            received = signal.sigtimedwait(_WAITED, 0.05 if self._pid is None else 0.5)
            # What the terminal sends (si_code SI_KERNEL) has reached the command too, which is in our process group.
            if received is not None and received.si_signo in _PASSED and received.si_code <= 0:
                self._pending.append(received.si_signo)
            self._pass_on()
            if over is not None and time.monotonic() >= over and self._pid is not None:
                if os.path.exists(os.path.join(self._folder, "timeout")):
                    self.failure = f"could not be read within {self._options.time_limit:g} s: --time-limit S gives it more"
                    self._process.kill()  # and with it the command: GDB has told the kernel so
                    self._process.wait()
                    return
                over = time.monotonic() + self._options.time_limit
                with open(os.path.join(self._folder, "timeout"), "xb"):
                    os.kill(self._pid, signal.SIGSTOP)

    def _pass_on(self) -> None:
        if self._pid is None:
            try:
                told = os.read(self._events, 4096)
            except BlockingIOError:
                return
            if not told:
                return
            self._pid = int(told)
        while self._pending:
            try:
                os.kill(self._pid, self._pending.pop(0))
            except ProcessLookupError:
                return


def _finish(answer: debugger.Answer, options: Any) -> int:
    result: Dict[str, Any] = answer.result
    name = options.command[0]
    if "exit_code" in result:
        return result["exit_code"]
    if "exit_signal" not in result and not result.get("timeout"):
        reason = result.get("error") or answer.failure or "?"
        sys.stderr.write(f"pyasync: {one_line(name)} cannot be run under GDB: {one_line(reason)}\n")
        return NOTHING
    notes = [f"was killed by {result['exit_signal_name']}"] if "exit_signal" in result else []
    if result.get("timeout"):
        notes = [f"was still running after {options.timeout:g} s, and was killed"]
    failure = answer.failure or result.get("error")
    if failure or answer.document or answer.text:
        deliver([Told(Target(name), answer._replace(failure=failure), notes)], options, sys.stderr)
    return TIMED_OUT if result.get("timeout") else 128 + result["exit_signal"]
