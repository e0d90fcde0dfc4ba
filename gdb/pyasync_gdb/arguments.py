"""Options and operands of the commands: one table, from which the parser, help and completion follow.

The parser is argparse's, without what would end GDB (it exits on --help and on errors) and without its own texts, which change
with the Python inside GDB.
"""

import argparse
import functools
from typing import Any, Callable, FrozenSet, List, NamedTuple, NoReturn, Optional, Tuple

import gdb

from . import library

STATES = (
    "live", "ended", "any",  # groups of states
    "pending", "done", "failed", "cancelled",
    "running", "executing", "ready", "created", "waiting",
)  # fmt: skip


GREENLET_STATES = ("any", "live", "pending", "running", "suspended", "dead", "exited")


class UsageError(Exception):
    """The command line is wrong; the message is one line."""


def _count(text: str) -> int:
    """A count of at least 1: the library takes 0 as "the default"."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) < 2**31:
        raise UsageError(f"needs a whole number from 1, not '{text}'")
    return int(text)


def _thread(text: str) -> int:
    return library.THREAD_ALL if text == "all" else _count(text)


def _state(text: str) -> str:
    if text not in STATES:
        raise UsageError(f"has no '{text}'; it takes {', '.join(STATES)}")
    return text


def _greenlet_state(text: str) -> str:
    if text not in GREENLET_STATES:
        raise UsageError(f"has no '{text}'; it takes {', '.join(GREENLET_STATES)}")
    return text


def _text(text: str) -> str:
    if not text:
        raise UsageError("needs a text that is not empty")
    return text


class Option(NamedTuple):
    """One option. With `value` (a metavariable) it takes a value, else it is a switch."""

    name: str
    commands: FrozenSet[int]
    help: str
    field: str = ""  # the field of Arguments that it sets
    value: str = ""
    convert: Callable[[str], Any] = _text
    choices: Tuple[str, ...] = ()  # for completion
    flag: int = 0  # the bits of Arguments.flags that it sets ...
    unflag: int = 0  # ... and takes back
    excludes: Tuple[str, ...] = ()  # options that it cannot stand beside
    hidden: bool = False  # for maintenance: not in help and completion


_BACKTRACE = library.COMMAND_BACKTRACE
_LISTS = frozenset((_BACKTRACE, library.COMMAND_AWAITED_BY, library.COMMAND_TASKS))
_STACKS = frozenset((_BACKTRACE, library.COMMAND_AWAITED_BY))
_GREENLETS = frozenset((library.COMMAND_GREENLETS,))
_SHOWN = _LISTS | _GREENLETS
_REPORT = frozenset((library.COMMAND_REPORT,))
_EVERY = _SHOWN | _REPORT | {library.COMMAND_INFO}

OPTIONS = (
    Option("--all", _SHOWN | _REPORT, "leave out no task and no group", flag=library.REQUEST_ALL),
    Option("--thread", _SHOWN, "only tasks of GDB's thread N, or of all threads", "thread", "N|all", _thread, ("all",)),
    Option("--thread", _REPORT, "report GDB's thread N, not the one that got the signal", "thread", "N", _count),
    Option("--state", _LISTS, "only tasks in this state or activity (default: live)", "state", "S", _state, STATES),
    Option("--state", _GREENLETS, "only greenlets in this state (default: any)", "state", "S", _greenlet_state, GREENLET_STATES),
    Option("--in", _LISTS, "only tasks with this function, file or file:line on their stack", "in_", "TEXT"),
    Option("--group", _STACKS | _GREENLETS, "tasks with the same stack and wait become one entry", flag=library.REQUEST_GROUP,
           unflag=library.REQUEST_NO_GROUP),
    Option("--no-group", _STACKS | _GREENLETS, "every task on its own", flag=library.REQUEST_NO_GROUP,
           unflag=library.REQUEST_GROUP),
    Option("--limit", _SHOWN, "at most N groups (default: 50)", "limit", "N", _count),
    Option("--limit", _REPORT, "at most N groups of tasks, and of greenlets (default: 5)", "limit", "N", _count),
    Option("--frames", _STACKS | _GREENLETS | _REPORT, "at most N frames of a stack", "frames", "N", _count),
    Option("--depth", _STACKS | _REPORT, "at most N levels of awaited-by (default: 40)", "depth", "N", _count),
    Option("--source", _STACKS | _GREENLETS | _REPORT, "show the source line of each frame", flag=library.REQUEST_SOURCE),
    Option("--stats", _LISTS, "only count the tasks: by function, state and activity", flag=library.REQUEST_STATS,
           excludes=("--compat",)),
    Option("--locals", _STACKS | _GREENLETS, "show the variables of each frame, every task on its own",
           flag=library.REQUEST_LOCALS),
    Option("--locals-depth", _STACKS | _GREENLETS, "at most N levels of containers in a value (default: 3)",
           "value_depth", "N", _count),
    Option("--locals-length", _STACKS | _GREENLETS, "at most N elements of a container, characters of a str (default: 200)",
           "value_length", "N", _count),
    Option("--instrumentation", _GREENLETS, "whether the code of each frame calls the profilers that it should",
           flag=library.REQUEST_INSTRUMENTATION),
    Option("--context", _STACKS, "show the context variables of each task, every task on its own", flag=library.REQUEST_CONTEXT),
    Option("--native", frozenset((_BACKTRACE,)), "show native frames too, of what runs", flag=library.REQUEST_NATIVE,
           excludes=("--compat", "--stats", "--dot")),
    Option("--no-head", _SHOWN, "leave out the summary before the tasks", flag=library.REQUEST_NO_HEAD),
    Option("--compat", frozenset((_BACKTRACE,)), "exactly the text of asyncio.print_call_graph()", flag=library.REQUEST_COMPAT),
    Option("--json", _EVERY, "print one JSON document (schema pyasync/1)", "json"),
    Option("--dot", _STACKS, "print the graph for Graphviz (dot -Tsvg)", "dot", excludes=("--json", "--stats", "--compat")),
    Option("--output", _EVERY, "write to FILE (0600, replaced at the end) and print nothing", "output", "FILE"),
    Option("--show-secrets", _SHOWN | _REPORT, "do not hide what looks like a password or token",
           flag=library.REQUEST_SHOW_SECRETS),
    Option("--exhaustive", _EVERY, "search all memory of a live process for Python's tables", flag=library.REQUEST_EXHAUSTIVE),
    Option("--no-map", _EVERY, "read through GDB only, as for a core file that still changes", "no_map"),
    Option("--memory-stats", _EVERY, "say how much memory the library used", flag=library.REQUEST_MEMORY_STATS, hidden=True),
    Option("--help", _EVERY, "show this help", "help"),
)  # fmt: skip

_SHORT = {"--help": "-h"}


class Arguments(argparse.Namespace):
    """A parsed command line."""

    def __init__(self) -> None:
        super().__init__()
        self.given: List[str] = []  # the options
        self.flags = 0
        self.thread = library.THREAD_DEFAULT
        self.state: Optional[str] = None
        self.in_: Optional[str] = None
        self.limit = 0
        self.frames = 0
        self.depth = 0
        self.value_depth = 0
        self.value_length = 0
        self.json = False
        self.dot = False
        self.output: Optional[str] = None
        self.no_map = False
        self.help = False
        self.operands: List[str] = []

    @property
    def format(self) -> int:
        return library.FORMAT_JSON if self.json else library.FORMAT_DOT if self.dot else library.FORMAT_TEXT

    @property
    def exhaustive(self) -> bool:
        return bool(self.flags & library.REQUEST_EXHAUSTIVE)


def options_of(command: int, hidden: bool = False) -> List[Option]:
    return [option for option in OPTIONS if command in option.commands and (hidden or not option.hidden)]


class _Set(argparse.Action):
    """What an option does. All it refuses it says in its own words."""

    def __init__(self, option_strings: List[str], dest: str, option: Option) -> None:
        # Without a value argparse gives None: its own message for that is not ours.
        super().__init__(option_strings, dest, nargs="?" if option.value else 0, default=argparse.SUPPRESS)
        self._option = option

    def __call__(self, _parser: Any, arguments: Any, value: Any, _name: Optional[str] = None) -> None:
        option = self._option
        for other in arguments.given:
            if other in option.excludes or option.name in next(each.excludes for each in OPTIONS if each.name == other):
                raise UsageError(f"{option.name} does not go with {other}")
        arguments.given.append(option.name)
        arguments.flags = arguments.flags & ~option.unflag | option.flag
        if option.value:
            setattr(arguments, option.field, _converted(option, value))
        elif option.field:
            setattr(arguments, option.field, True)


def _converted(option: Option, value: Optional[str]) -> Any:
    if value is None:
        raise UsageError(f"{option.name} needs a value: {option.name} {option.value}")
    try:
        return option.convert(value)
    except UsageError as error:
        raise UsageError(f"{option.name} {error}") from None


class _Parser(argparse.ArgumentParser):
    """The options of one command."""

    def __init__(self, command: int) -> None:
        super().__init__(add_help=False, allow_abbrev=False, exit_on_error=False)
        for option in options_of(command, hidden=True):
            names = [name for name in (_SHORT.get(option.name), option.name) if name]
            self.add_argument(*names, action=_Set, option=option)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


# To make one takes as long as to walk a thousand tasks.
_parser_of = functools.lru_cache(maxsize=None)(_Parser)


def parse(command: int, line: str, takes_operands: bool) -> Arguments:
    """Parse what follows the command's name, quoted as for a shell. Options stand anywhere before `--`. Raises UsageError."""
    words = gdb.string_to_argv(line) if line.strip() else []
    # Operands are what argparse leaves: its versions differ in what they make of `--` and of operands between options.
    end = words.index("--") if "--" in words else len(words)
    try:
        arguments, left = _parser_of(command).parse_known_args(words[:end], Arguments())
    except argparse.ArgumentError as error:  # the one left to argparse: --json=yes
        raise UsageError(f"{error.argument_name} takes no value") from None
    unknown = next((word for word in left if word.startswith("-") and word != "-"), None)
    if unknown is not None:
        raise UsageError(f"unknown option {unknown.partition('=')[0]}; --help lists the options, and -- ends them")
    arguments.operands = left + words[end + 1 :]
    if arguments.operands and not takes_operands and not arguments.help:
        raise UsageError(f"takes no operand, but got '{arguments.operands[0]}'")
    return arguments


def option_help(command: int) -> str:
    """The lines of `help` about options."""
    lines = []
    for option in options_of(command):
        left = f"{option.name} {option.value}".rstrip()
        lines.append(f"  {left:<18} {option.help}")
    return "\n".join(lines)
