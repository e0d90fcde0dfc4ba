"""What --run tells beside the command itself: the processes that it had started, and the cores that these left."""

import contextlib
import os
from typing import Any, Dict, Iterator, List

from . import debugger
from .process import Child
from .targets import Target, Told, cores_below
from .text import some
from .triage import Readers

MOST_PROCESSES = 32  # that are told when the time is over: each takes GDB a second


def chosen(children: List[Child]) -> List[Child]:
    """Those of which GDB is to tell."""
    return [child for child in children if child.python][:MOST_PROCESSES]


def others(children: List[Child], answer: debugger.Answer, folder: str) -> List[Told]:
    """What GDB told of them. @p answer is that of the command."""
    results: Dict[str, Any] = answer.result.get("others", {})
    told = []
    for child in chosen(children):
        result = results.get(str(child.pid), {})
        failure = result.get("error") or (None if result or not answer.failure else answer.failure)
        report = debugger.report_of(folder, f"process-{child.pid}", result, failure)
        told.append(Told(Target(str(child.pid), pid=child.pid), report, []))
    return told


def not_told(children: List[Child]) -> List[str]:
    """Clauses about those of which nothing is told."""
    without = [f"{child.pid} ({child.name})" for child in children if not child.python]
    left = [str(child.pid) for child in children if child.python][MOST_PROCESSES:]
    clauses = [f"had started processes without Python: {some(without)}"] if without else []
    return clauses + ([f"had started more with Python than are told: {some(left)}"] if left else [])


def cores(options: Any, since: int, pid: int) -> List[Told]:
    """Reports on the cores that were written after the time @p since, but for that of process @p pid, which was told alive."""
    found = {os.path.realpath(target.name): target for target in _new_cores(options.cores, since)}
    if not found:
        return []
    with Readers(list(found.values()), options) as readers:
        told = list(readers.told())
    return [each for each in told if ((each.answer.document or {}).get("process") or {}).get("pid") != pid]


def _new_cores(folders: List[str], since: int) -> Iterator[Target]:
    yield from cores_below(_kernels_folder(), since, deep=False)
    for folder in folders:
        yield from cores_below(folder, since)


def _kernels_folder() -> str:
    """Where the kernel writes the core of a process that has not changed its working directory: core(5)."""
    pattern = ""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/core_pattern", encoding="utf-8", errors="surrogateescape") as file:
        pattern = file.read().strip()
    return os.path.dirname(pattern.partition("%")[0]) if pattern.startswith("/") else os.getcwd()
