"""Native frames of a thread, as GDB unwinds them."""

from typing import List, NamedTuple, Optional, Tuple

import gdb

from .borrow import with_any_thread
from .objects import MappedFiles

_COMPLETE = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)


class Frame(NamedTuple):
    pc: int
    sp: int
    function: Optional[str]
    file: Optional[str]
    line: int
    debug: bool  # the function is told by debug symbols
    guess: bool  # GDB has no file of the code


class Stack(NamedTuple):
    frames: List[Frame]
    stopped: Optional[str]  # why the last frame is not the outermost one


def unwind(number: int, limit: int, files: MappedFiles) -> Optional[Stack]:
    """The stack of GDB's thread @p number, innermost first, at most @p limit frames; None if there is none."""
    thread = next((thread for thread in gdb.selected_inferior().threads() if thread.num == number), None)
    if thread is None or not thread.is_valid() or thread.is_exited() or thread.is_running():
        return None

    def walk() -> Stack:
        thread.switch()
        return _walk(limit, files)

    try:
        return with_any_thread(walk)
    except gdb.error:
        return None  # no registers


def _walk(limit: int, files: MappedFiles) -> Stack:
    frames: List[Frame] = []
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    stopped = None
    while frame is not None and len(frames) < limit:
        frames.append(_describe(frame, files))
        try:
            older = frame.older()
        except gdb.error as error:  # "Cannot access memory at address …": as `bt` says it
            return Stack(frames, str(error))
        if older is None:
            stopped = _why_stopped(frame)
        frame = older
    if frame is not None:
        stopped = f"{limit:,} frames are enough"
    return Stack(frames, stopped)


def _why_stopped(frame: gdb.Frame) -> Optional[str]:
    reason = frame.unwind_stop_reason()
    if reason not in _COMPLETE:
        return gdb.frame_stop_reason_string(reason)
    if gdb.parameter("backtrace limit") not in (None, 0) and frame.level() + 1 >= gdb.parameter("backtrace limit"):
        return "`set backtrace limit` ends it"
    return None


def _describe(frame: gdb.Frame, files: MappedFiles) -> Frame:
    pc = frame.pc()
    try:
        sp = int(frame.read_register("rsp")) & (2**64 - 1)
    except (gdb.error, ValueError):
        sp = 0
    name = frame.name()
    place, line = _source(frame)
    guess = name is None and frame.type() == gdb.NORMAL_FRAME and not files.is_opened(files.path_at(pc))
    return Frame(pc, sp, name, place, line, frame.function() is not None, guess)


def _source(frame: gdb.Frame) -> Tuple[Optional[str], int]:
    place = frame.find_sal()
    return (place.symtab.filename, place.line) if place.symtab is not None else (None, 0)
