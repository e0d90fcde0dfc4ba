"""One GDB for one job, with limits, and without anything that the target's files could make it do."""

import contextlib
import json
import os
import resource
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional

from . import children
from .text import one_line

_HERE = os.path.dirname(os.path.realpath(__file__))
_PRODUCT = os.path.join(os.path.dirname(_HERE), "pyasync.py")


class GdbMissing(Exception):
    """There is no GDB that can do this: what to do."""


class Answer(NamedTuple):
    """What GDB told about one target."""

    text: Optional[str]
    document: Optional[Dict[str, Any]]
    result: Dict[str, Any]  # of inside.py
    failure: Optional[str]  # if GDB itself failed: a clause


def command_line(options: Any, sysroot: Optional[str], *arguments: str) -> List[str]:
    """A GDB that reads no user's or target's scripts: they would be executed."""
    settings = ["set auto-load off", f"set debuginfod enabled {'on' if options.debuginfod else 'off'}"]
    if sysroot is not None:
        settings.append(f"set sysroot {sysroot}")
    words = [options.gdb, "-nx", "-nh", "-batch"]
    for setting in settings:
        words += ["-iex", setting]
    return [*words, "-x", os.path.join(_HERE, "inside.py"), *arguments]


def environment(folder: str) -> Dict[str, str]:
    """Our own, without what would change the Python inside GDB, and with messages that are the same everywhere."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return {**variables, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYASYNC_JOB": os.path.join(folder, "job.json")}


def write_job(folder: str, options: Any, **job: Any) -> None:
    """What inside.py is to do."""
    asked = {"--show-secrets": options.show_secrets, "--all": options.all, "--source": options.source or options.source_path}
    arguments = " ".join(option for option, is_set in asked.items() if is_set)
    job.update(product=_PRODUCT, source_path=options.source_path, arguments=arguments)
    with open(os.path.join(folder, "job.json"), "x", encoding="utf-8") as file:
        json.dump(job, file)


def limit(pid: int, options: Any) -> None:
    """
    No GDB may take all memory, nor leave a core of its own. The limit is on private writable memory (RLIMIT_DATA): one on the
    address space would count the core, which is mapped.
    """
    most = options.memory_limit << 20
    with contextlib.suppress(OSError, ValueError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def run(command: List[str], folder: str, options: Any) -> Answer:
    """Let GDB do the job in @p folder. Raises GdbMissing."""
    with open(os.path.join(folder, "gdb.log"), "xb") as log:
        process = start(command, folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        failure = None
        try:
            limit(process.pid, options)
            process.wait(options.time_limit)
        except subprocess.TimeoutExpired:
            failure = f"took longer than {options.time_limit:g} s: --time-limit S gives it more"
        finally:
            children.end(process)
    return answer(process, folder, options, failure)


def start(command: List[str], folder: str, **streams: Any) -> subprocess.Popen:
    try:
        return children.start(command, cwd=folder, env=environment(folder), **streams)
    except FileNotFoundError:
        raise GdbMissing(f"{command[0]} is not here: install gdb (not gdb-minimal, which has no Python)") from None
    except OSError as error:
        raise GdbMissing(f"cannot start {command[0]}: {error.strerror}") from None


def answer(process: subprocess.Popen, folder: str, options: Any, failure: Optional[str] = None) -> Answer:
    """What a GDB that has ended left. Raises GdbMissing."""
    log = read(folder, "gdb.log")
    if "Python scripting is not supported" in log:
        raise GdbMissing(f"{options.gdb} has no Python: install gdb, not gdb-minimal")
    result = read(folder, "result.json")
    if not result and failure is None:
        failure = _why(process.returncode, log, options)
    return report_of(folder, "report", json.loads(result) if result else {}, failure)


def report_of(folder: str, base: str, result: Dict[str, Any], failure: Optional[str]) -> Answer:
    """The report that inside.py has written as @p base."""
    document = read(folder, f"{base}.json")
    return Answer(read(folder, f"{base}.txt") or None, json.loads(document) if document else None, result, failure)


def _why(status: int, log: str, options: Any) -> str:
    if status < 0 or "std::bad_alloc" in log or "virtual memory exhausted" in log or "MemoryError" in log:
        how = f"was ended by signal {-status}" if status < 0 else "ran out of memory"
        return f"could not be read: GDB {how}; it may take {options.memory_limit:,} MB, --memory-limit MB gives it more"
    last = [line for line in log.splitlines() if line.strip()][-1:]
    return "could not be read" + (f": GDB says: {one_line(last[0])[:300]}" if last else f": GDB ended with status {status}")


def read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""
