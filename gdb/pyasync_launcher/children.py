"""The programs that the launcher started and that still run, so that none outlives it."""

import contextlib
import signal
import subprocess
import threading
from typing import Any, List, Set

_running: Set[subprocess.Popen] = set()
_lock = threading.Lock()
_stopping = False


def start(command: List[str], **options: Any) -> subprocess.Popen:
    """subprocess.Popen(), but no more once all are being stopped. Raises OSError, KeyboardInterrupt."""
    with _lock:
        if _stopping:
            raise KeyboardInterrupt
        process = subprocess.Popen(command, **options)
        _running.add(process)
        return process


def end(process: subprocess.Popen) -> None:
    """Wait for it, having told it to end if it still runs. GDB lets go of what it is attached to."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with _lock:
        _running.discard(process)


def stop_all() -> None:
    """Tell all to end: whoever waits for one goes on, and tidies up. No other is started."""
    global _stopping
    with _lock:
        _stopping = True
        for process in _running:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
