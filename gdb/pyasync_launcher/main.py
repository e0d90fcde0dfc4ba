"""The command."""

import os
import signal
import sys
from typing import Any, List

from . import debugger, options, supervise, triage


def main(words: List[str]) -> int:
    """Run the command line @p words. Returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    chosen = options.parse(words)
    # These end a process by default; as exceptions they let it tidy up: what was unpacked is removed, GDB lets go.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    try:
        return supervise.supervise(chosen) if chosen.run else triage.triage(chosen)
    except debugger.GdbMissing as error:
        sys.stderr.write(f"pyasync: {error}\n")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # `pyasync … | head`: what is left cannot be printed at exit either
        return options.NOT_ALL
    except OSError as error:
        sys.stderr.write(f"pyasync: {error.filename or ''}: {error.strerror}\n")
    return options.NOTHING


def _stop(number: int, _frame: Any) -> None:
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # once is enough: what tidies up is not interrupted
    raise SystemExit(128 + number)
