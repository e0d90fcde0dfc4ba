"""Many targets: read side by side, told in order, those that died alike as one."""

import concurrent.futures
import json
import os
import sys
import threading
from typing import Any, Dict, Iterable, Iterator, List, TextIO

from . import children
from .options import ALL_SHOWN, NOT_ALL, NOTHING
from .targets import Target, Told, expand, tell
from .text import counted, one_line, printable, some


def triage(options: Any) -> int:
    """Report on all targets. Returns the exit status. Raises debugger.GdbMissing."""
    targets = expand(options.targets, options.newer)
    with Readers(targets, options) as readers:
        told = deliver(readers.told(), options, sys.stdout)
    if told and not any(each.shown for each in told):
        return NOTHING
    return ALL_SHOWN if all(each.complete for each in told) else NOT_ALL


def deliver(arriving: Iterable[Told], options: Any, stream: TextIO) -> List[Told]:
    """Print what was told, and write it to the folder of --output. Returns all of it."""
    if options.output:
        os.makedirs(options.output, exist_ok=True)
    told = []
    for number, each in enumerate(arriving):
        told.append(each)
        if options.output:
            _write(options.output, number, each)
        if options.json:
            stream.write(json.dumps(_line(each)) + "\n")
            stream.flush()
    if not options.json:
        _print(told, options, stream)
    return told


class Readers:
    """Threads, each with one GDB at a time. All have ended when the context is left, however it is left."""

    def __init__(self, targets: List[Target], options: Any) -> None:
        self._targets, self._options = targets, options
        self._pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
        self._futures: List[Any] = []

    def told(self) -> Iterator[Told]:
        """In the order of the targets, each as soon as it is there."""
        progress = _Progress(len(self._targets))
        for target in self._targets:  # not before: a signal may come at any time, and outside of the context nothing would be ended
            self._futures.append(self._pool.submit(tell, target, self._options))
            self._futures[-1].add_done_callback(progress.step)
        for future in self._futures:
            yield future.result()

    def __enter__(self) -> "Readers":
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._futures:
            future.cancel()
        children.stop_all()
        self._pool.shutdown()


class _Progress:
    """One line on a terminal, overwritten."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._shown = total > 1 and sys.stderr.isatty()
        self._lock = threading.Lock()

    def step(self, _future: Any) -> None:
        with self._lock:
            self._done += 1
            if self._shown:
                end = f"\rpyasync: {self._done:,} of {self._total:,} read" if self._done < self._total else "\r\033[K"
                sys.stderr.write(end)
                sys.stderr.flush()


def _line(told: Told) -> Dict[str, Any]:
    """A line of --json."""
    return {
        "target": printable(told.target.name), "complete": told.complete, "signature": told.signature, "notes": told.notes,
        "error": told.answer.failure, "report": told.answer.document,
    }  # fmt: skip


def _write(folder: str, number: int, told: Told) -> None:
    """Number first: cores of different folders may have the same name."""
    base = os.path.join(folder, f"{number + 1:03d}-{os.path.basename(told.target.name) or 'core'}")
    if told.answer.text is not None:
        _write_file(f"{base}.txt", _report(told))
    _write_file(f"{base}.json", json.dumps(_line(told), indent=1) + "\n")


def _write_file(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)


def _clauses(told: Told) -> List[str]:
    clauses = told.notes + ([told.answer.failure] if told.answer.failure else [])
    subject = f"process {told.target.pid}" if told.target.pid is not None else printable(told.target.name)
    return [f"{subject} {one_line(clause)}" for clause in clauses]


def _report(told: Told) -> str:
    """All of one target."""
    clauses = "".join(f"{clause}\n" for clause in _clauses(told))
    native = printable(told.answer.result.get("native") or "", "\n\t")
    parts = (clauses + printable(told.answer.text or "", "\n"), native)
    return "\n".join(part for part in parts if part)


def _print(told: List[Told], options: Any, stream: TextIO) -> None:
    if len(told) < 2:
        stream.write("".join(map(_report, told)))
        stream.flush()
        return
    groups: Dict[str, List[Told]] = {}
    for number, each in enumerate(told):
        if each.shown:
            groups.setdefault(each.signature if each.signature and not options.each else f" {number}", []).append(each)
    failed = [each for each in told if not each.shown]
    # Of as many targets those that run a test, and not what started them.
    kinds = sorted(groups.values(), key=lambda alike: (len(alike), alike[0].test is not None), reverse=True)
    stream.write(f"{counted(len(told), 'target')}: {counted(len(kinds), 'different report')}, {len(failed):,} could not be read\n")
    for alike in kinds:
        # The first whole one stands for all.
        shown = next((each for each in alike if each.complete), alike[0])
        heading = some([shown.target.name, *(each.target.name for each in alike if each is not shown)])
        signature = f" {shown.signature}" if shown.signature else ""
        stream.write(f"\n=== {len(alike):,} ×{signature}: {heading}\n{_report(shown)}")
        for each in alike:
            if each is not shown:
                stream.write("".join(f"{clause}\n" for clause in _clauses(each)))
    if failed:
        stream.write("\n" + "".join(f"{clause}\n" for each in failed for clause in _clauses(each)))

    stream.flush()
