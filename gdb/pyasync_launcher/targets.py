"""The operands of the command line as single targets, each made ready for GDB."""

import contextlib
import os
import signal
import stat
import tempfile
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import debugger, unpack
from .core_file import CoreFile, NotACore, build_id_of, is_elf
from .process import Process
from .text import printable, size


class Target(NamedTuple):
    name: str
    pid: Optional[int] = None
    error: Optional[str] = None  # why it is none: a clause


class Told(NamedTuple):
    """What is known of one target when all is done."""

    target: Target
    answer: debugger.Answer
    notes: List[str]  # clauses about what cannot be had

    @property
    def signature(self) -> Optional[str]:
        return self._report.get("signature")

    @property
    def test(self) -> Optional[str]:
        return self._report.get("test")

    @property
    def runs_no_python(self) -> bool:
        return bool(self._report.get("no_python"))

    @property
    def _report(self) -> Dict[str, Any]:
        return (self.answer.document or {}).get("report") or {}

    @property
    def shown(self) -> bool:
        return self.answer.text is not None

    @property
    def complete(self) -> bool:
        document = self.answer.document or {}
        return self.shown and not self.answer.failure and document.get("complete") is True


def expand(operands: List[str], newer: Optional[str]) -> List[Target]:
    """Folders become the cores in them. What is no target stays, with the reason. Raises OSError if @p newer is not there."""
    since = os.stat(newer).st_mtime_ns if newer else None
    targets: List[Target] = []
    for operand in operands:
        if operand.isdigit() and len(operand) <= 10:
            targets.append(Target(operand, pid=int(operand)))
        elif os.path.isdir(operand):
            found = list(cores_below(operand, since))
            targets += found
            if not found and since is None:
                targets.append(Target(operand, error="has no core file in it"))
        else:
            targets.append(Target(operand))
    return targets


def cores_below(folder: str, since: Optional[int], deep: bool = True) -> Iterator[Target]:
    """
    Every core, by content; and files that are called so but are none, so that an empty one is not passed over in silence. Only
    those that were written after the time @p since, if there is one.
    """
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(folders) if deep else []
        for name in sorted(files):
            path = os.path.join(place, name)
            try:
                file = os.lstat(path)
                regular = stat.S_ISREG(file.st_mode) and (since is None or file.st_mtime_ns >= since)
                packed = regular and unpack.is_packed(path)
                if regular and not packed:
                    with CoreFile(path):
                        pass
            except (OSError, NotACore):
                packed, regular = False, name == "core" or name.startswith("core.")
            # What is packed shows only when it is unpacked.
            if regular and (not packed or "core" in name):
                yield Target(path)


def tell(target: Target, options: Any) -> Told:
    """Have GDB report on one target. Raises debugger.GdbMissing."""
    notes: List[str] = []
    with tempfile.TemporaryDirectory(prefix="pyasync-", dir=options.tmp) as folder:  # 0700
        try:
            if target.error is not None:
                return Told(target, _nothing(target.error), notes)
            if target.pid is not None:
                return Told(target, _tell_process(target.pid, folder, options, notes), notes)
            return Told(target, _tell_core(target.name, folder, options, notes), notes)
        except NotACore as error:
            return Told(target, _nothing(str(error)), notes)
        except OSError as error:
            return Told(target, _nothing(f"cannot be read: {error.strerror}"), notes)


def _nothing(failure: str) -> debugger.Answer:
    return debugger.Answer(None, None, {}, failure)


def _tell_core(name: str, folder: str, options: Any, notes: List[str]) -> debugger.Answer:
    path = original = os.path.abspath(name)
    if unpack.is_packed(path):
        unpacked = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] or "core")
        missing = unpack.unpack(path, unpacked)
        notes += [missing] if missing else []
        path = unpacked
    sysroot = os.path.realpath(options.sysroot) if options.sysroot else None
    with CoreFile(path) as core:
        if core.size < core.whole_size and not notes:
            notes.append(f"is cut short: {size(core.size)} of {size(core.whole_size)} are here")
        replaced = list(_replaced(core, sysroot))
        executable, missing = _executable(core, sysroot)
    if replaced:
        # GDB 13 takes what the core lacks from the file of that name, whatever build it is, and no file can be kept from it alone.
        sysroot, executable = os.path.join(folder, "no files"), None
        more = f" (and {len(replaced) - 1} more)" if len(replaced) > 1 else ""
        missing = f"is read without its files: {replaced[0]}{more}"
    notes += [missing] if missing else []
    if "\n" in path:  # GDB 13 tells its core's name only in a line of text
        os.symlink(path, os.path.join(folder, "core"))
        path = os.path.join(folder, "core")
    debugger.write_job(folder, options, kind="core")
    words = [executable] if executable else []
    answer = debugger.run(debugger.command_line(options, sysroot, *words, "-core", path), folder, options)
    return _explained(answer if path == original else _renamed(answer, path, original))


def _renamed(answer: debugger.Answer, path: str, original: str) -> debugger.Answer:
    """What was told about a core that has its name only for us."""
    if answer.document is not None:
        answer.document["process"]["core"] = printable(original)
    return answer._replace(text=answer.text and answer.text.replace(path, printable(original)))


def _explained(answer: debugger.Answer) -> debugger.Answer:
    error = answer.result.get("error")
    return answer._replace(failure=f"is not understood: {error}" if error else None) if not answer.failure else answer


def _replaced(core: CoreFile, sysroot: Optional[str]) -> Iterator[str]:
    """The files that are here, but in another build than the process had mapped."""
    for mapping in core.mappings():
        ran = core.build_id(mapping)
        path = _path_here(mapping.path, sysroot)
        here = build_id_of(path) if ran else None
        if here is not None and here != ran:
            yield f"{printable(mapping.path)} is another build here (build-id {here}, in the core {ran})"


def _path_here(path: str, sysroot: Optional[str]) -> str:
    """Where a file of the process is here. (gcore outside of the process's root has written down our path already.)"""
    return path if sysroot is None or path.startswith(f"{sysroot}/") else os.path.join(sysroot, path.lstrip("/"))


def _executable(core: CoreFile, sysroot: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
    """The executable's file, if it is here; and what is missing. GDB can do without."""
    mapping = core.executable()
    if mapping is None or not mapping.path.startswith("/"):
        return None, "does not tell its executable: read without that file"
    name = printable(mapping.path.replace(" (deleted)", ""))
    path = _path_here(mapping.path, sysroot)
    if not os.path.exists(path):
        return None, f"is read without its executable {name}, which is not here (--sysroot DIR tells where)"
    if not is_elf(path):
        return None, f"is read without its executable {name}: what is here of that name is no program, or cannot be read"
    return path, None


def _tell_process(pid: int, folder: str, options: Any, notes: List[str]) -> debugger.Answer:
    try:
        process = Process(pid)
    except ProcessLookupError:
        return _nothing("is no process")
    unfit = process.unfit()
    if unfit:
        return _nothing(unfit)
    was_stopped = process.is_stopped()
    sysroot = os.path.realpath(options.sysroot) if options.sysroot else process.sysroot()
    debugger.write_job(folder, options, kind="process", pid=pid)
    answer = debugger.run(debugger.command_line(options, sysroot, *process.executable(sysroot)), folder, options)
    with contextlib.suppress(ProcessLookupError):
        if process.is_stopped() and not was_stopped:
            os.kill(pid, signal.SIGCONT)  # a GDB that was killed could not let it go on
    if answer.result.get("refused"):
        error = answer.result["error"]
        return _nothing(process.refusal() if "ptrace" in error else f"cannot be attached to: {error}")
    if "stood_still" in answer.result:
        notes.append(f"stood still for {answer.result['stood_still']:.2f} s")
    return _explained(answer)
