"""
--run: the command as GDB's child, which needs no core pattern, no limit of cores and no permission to attach.

GDB has a process group of its own. The command is moved to ours, so that a terminal's signals reach it as always and GDB not at
all; what is sent to us alone is passed on.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple

from . import aftermath, children, debugger
from .options import NOTHING
from .process import Child, descendants
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
        begin = os.stat(os.path.join(folder, "job.json")).st_mtime_ns
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
            for child in watch.others:
                child.kill()
        answer = debugger.answer(process, folder, options, watch.failure)
        others = aftermath.others(watch.others, answer, folder)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    status, told = _command_told(answer, options, aftermath.not_told(watch.others))
    others += aftermath.cores(options, begin, watch.pid)
    # What starts others, as make does, is not worth a report if it runs no Python and they do.
    if told and told[0].runs_no_python and any(each.shown for each in others):
        told = [told[0]._replace(answer=told[0].answer._replace(text="", document=None))]
    if told + others:
        deliver(told + others, options, sys.stderr)
    return status


def _own_group() -> None:
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)


class _Watch:
    """Waits for the end of GDB, passes signals on, and stops the command when its time is over."""

    def __init__(self, process: Any, events: int, folder: str, options: Any) -> None:
        self._process, self._events, self._folder, self._options = process, events, folder, options
        self.pid = 0  # of the command; 0: it does not run yet
        self.others: List[Child] = []  # that it had started when its time was over
        self._pending: List[int] = []
        self.failure: Optional[str] = None
        os.set_blocking(events, False)

    def until_the_end(self) -> None:
        over = time.monotonic() + self._options.timeout if self._options.timeout else None
        while self._process.poll() is None:
            received = signal.sigtimedwait(_WAITED, 0.5 if self.pid else 0.05)
            # What the terminal sends (si_code SI_KERNEL) has reached the command too, which is in our process group.
            if received is not None and received.si_signo in _PASSED and received.si_code <= 0:
                self._pending.append(received.si_signo)
            self._pass_on()
            if over is not None and time.monotonic() >= over and self.pid:
                if os.path.exists(os.path.join(self._folder, "timeout")):
                    self.failure = f"could not be read within {self._options.time_limit:g} s: --time-limit S gives it more"
                    self._process.kill()  # and with it the command: GDB has told the kernel so
                    self._process.wait()
                    return
                over = time.monotonic() + self._options.time_limit
                self.others = descendants(self.pid)
                with open(os.path.join(self._folder, "timeout"), "x", encoding="ascii") as file:
                    json.dump([child.pid for child in aftermath.chosen(self.others)], file)
                os.kill(self.pid, signal.SIGSTOP)

    def _pass_on(self) -> None:
        if not self.pid:
            try:
                told = os.read(self._events, 4096)
            except BlockingIOError:
                return
            if not told:
                return
            self.pid = int(told)
        while self._pending:
            try:
                os.kill(self.pid, self._pending.pop(0))
            except ProcessLookupError:
                return


def _command_told(answer: debugger.Answer, options: Any, notes: List[str]) -> Tuple[int, List[Told]]:
    """The exit status of the command, or why it has none; and its report if there is one."""
    result: Dict[str, Any] = answer.result
    name = options.command[0]
    if "exit_code" in result:
        return result["exit_code"], []
    if "exit_signal" not in result and not result.get("timeout"):
        reason = result.get("error") or answer.failure or "?"
        sys.stderr.write(f"pyasync: {one_line(name)} cannot be run under GDB: {one_line(reason)}\n")
        return NOTHING, []
    if result.get("timeout"):
        how = f"was still running after {options.timeout:g} s, and was killed"
    else:
        how = f"was killed by {result['exit_signal_name']}"
    failure = answer.failure or result.get("error")
    told = Told(Target(name), answer._replace(failure=failure), [how, *notes])
    status = TIMED_OUT if result.get("timeout") else 128 + result["exit_signal"]
    return status, [told] if failure or answer.document or answer.text else []
