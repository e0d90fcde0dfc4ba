"""The command line."""

import argparse
import os
import sys
from typing import List, NoReturn

from .text import printable

# Exit codes, as eu-stack of elfutils documents its own.
ALL_SHOWN, NOT_ALL, NOTHING, USAGE = 0, 1, 2, 64

_USAGE = """pyasync [OPTION…] CORE|DIR|PID…
       pyasync --run [--timeout S] [OPTION…] -- COMMAND…"""

_DESCRIPTION = """Say what a Python process was doing: one report for each core file (also .zst, .lz4, .xz, .gz), for each core
below a folder, for each process; or for COMMAND, which runs as GDB's child, when a signal kills it or its time is over, and
then for the processes that it had started; and for cores that these left."""

_EPILOG = """Exit status: 0 all was shown, 1 something could not be, 2 nothing could, 64 wrong usage. With --run: COMMAND's own;
128+N when signal N killed it, 124 when its time was over."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"pyasync: {printable(message)}; pyasync --help says more\n")
        sys.exit(USAGE)


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e9:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _mapping(text: str) -> List[str]:
    before, equals, after = text.partition("=")
    if not (before and equals and after):
        raise argparse.ArgumentTypeError(f"needs FROM=TO, not '{text}'")
    return [before, after]


def _folder(text: str) -> str:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is no folder that is there: make it first")
    return text


def parse(words: List[str]) -> argparse.Namespace:
    """Parse the command line; ends the process with status 64 if it is wrong."""
    parser = _Parser(
        prog="pyasync", usage=_USAGE, description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    # Python 3.9's positional arguments cannot stand between options in every order, and `--` ends them: taken by hand.
    own, command = words, []
    if "--" in words:
        own, command = words[: words.index("--")], words[words.index("--") + 1 :]
    add = parser.add_argument
    add("targets", nargs="*", metavar="CORE|DIR|PID", help="a number is a process; write ./123 for a file of that name")
    add("--run", action="store_true", help="run COMMAND under GDB; its input, output and signals are its own")
    add("--timeout", type=_positive, metavar="S", help="with --run: report and kill COMMAND after S seconds")
    add("--cores", action="append", type=_folder, default=[], metavar="DIR", help="with --run: look for new cores below DIR too")
    add("--newer", metavar="FILE", help="of folders, only cores that were written after FILE; none is no failure")
    add("--json", action="store_true", help="one JSON document a line and target: its report is schema pyasync/1")
    add("--output", metavar="DIR", help="also write each report to DIR, as text and JSON")
    add("--each", action="store_true", help="print every report, not one for each signature")
    add("--sysroot", metavar="DIR", help="where the files of the process are: a container's root, copied or mounted")
    add("--source-path", action="append", type=_mapping, default=[], metavar="FROM=TO", help="sources that were at FROM are at TO")
    add("--source", action="store_true", help="show the source line of each frame; --source-path does too")
    add("--all", action="store_true", help="leave out no task and no group")
    add("--debuginfod", action="store_true", help="let GDB ask the servers of DEBUGINFOD_URLS for what is missing")
    add("--show-secrets", action="store_true", help="do not hide what looks like a password or token")
    add("-j", dest="jobs", type=_count, metavar="N", help="read N at a time (default: the processors, at most 4)")
    add("--tmp", type=_folder, metavar="DIR", help="where compressed cores are unpacked (default: TMPDIR or /tmp)")
    add("--time-limit", type=_positive, default=300.0, metavar="S", help="give up on one after S seconds (default: 300)")
    add("--memory-limit", type=_count, default=4096, metavar="MB", help="memory of one GDB, mapped files apart (default: 4096)")
    add("--gdb", default="gdb", metavar="PROGRAM", help="the GDB to use (default: gdb)")
    options = parser.parse_intermixed_args(own)
    if options.run:
        options.command = options.targets + command
        if not options.command:
            parser.error("--run needs a command: pyasync --run -- COMMAND…")
    else:
        options.targets += command
        if not options.targets:
            parser.error("needs a core file, a folder of cores or the number of a process")
        if options.timeout:
            parser.error("--timeout goes with --run; --time-limit is for one core or process")
        if options.cores:
            parser.error("--cores goes with --run; name the folder alone")
    if options.jobs is None:
        options.jobs = min(4, len(os.sched_getaffinity(0)))
    return options
