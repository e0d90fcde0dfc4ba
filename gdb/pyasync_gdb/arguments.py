"""Options and operands of the commands: one table, from which parsing, help and completion follow.

Not argparse: that ends the process on --help and on errors, and what it accepts and prints changes with the Python inside GDB.
"""

from typing import Any, Callable, FrozenSet, List, NamedTuple, Optional, Tuple

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
    hidden: bool = False  # for maintenance: not in help and completion


_BACKTRACE = library.COMMAND_BACKTRACE
_LISTS = frozenset((_BACKTRACE, library.COMMAND_AWAITED_BY, library.COMMAND_TASKS))
_STACKS = frozenset((_BACKTRACE, library.COMMAND_AWAITED_BY))
_GREENLETS = frozenset((library.COMMAND_GREENLETS,))
_SHOWN = _LISTS | _GREENLETS
_EVERY = _SHOWN | {library.COMMAND_INFO}

OPTIONS = (
    Option("--all", _SHOWN, "leave out no task and no group", flag=library.REQUEST_ALL),
    Option("--thread", _SHOWN, "only tasks of GDB's thread N, or of all threads", "thread", "N|all", _thread, ("all",)),
    Option("--state", _LISTS, "only tasks in this state or activity (default: live)", "state", "S", _state, STATES),
    Option("--state", _GREENLETS, "only greenlets in this state (default: any)", "state", "S", _greenlet_state, GREENLET_STATES),
    Option("--in", _LISTS, "only tasks with this function, file or file:line on their stack", "in_", "TEXT"),
    Option("--group", _STACKS | _GREENLETS, "tasks with the same stack and wait become one entry", flag=library.REQUEST_GROUP,
           unflag=library.REQUEST_NO_GROUP),
    Option("--no-group", _STACKS | _GREENLETS, "every task on its own", flag=library.REQUEST_NO_GROUP, unflag=library.REQUEST_GROUP),
    Option("--limit", _SHOWN, "at most N groups (default: 50)", "limit", "N", _count),
    Option("--frames", _STACKS | _GREENLETS, "at most N frames of a stack", "frames", "N", _count),
    Option("--depth", _STACKS, "at most N levels of awaited-by (default: 40)", "depth", "N", _count),
    Option("--source", _STACKS | _GREENLETS, "show the source line of each frame", flag=library.REQUEST_SOURCE),
    Option("--stats", _LISTS, "only count the tasks: by function, state and activity", flag=library.REQUEST_STATS),
    Option("--locals", _STACKS | _GREENLETS, "show the variables of each frame, every task on its own", flag=library.REQUEST_LOCALS),
    Option("--locals-depth", _STACKS | _GREENLETS, "at most N levels of containers in a value (default: 3)", "value_depth", "N", _count),
    Option("--locals-length", _STACKS | _GREENLETS, "at most N elements of a container, characters of a str (default: 200)", "value_length",
           "N", _count),
    Option("--instrumentation", _GREENLETS, "whether the code of each frame calls the profilers that it should",
           flag=library.REQUEST_INSTRUMENTATION),
    Option("--context", _STACKS, "show the context variables of each task, every task on its own", flag=library.REQUEST_CONTEXT),
    Option("--no-head", _SHOWN, "leave out the summary before the tasks", flag=library.REQUEST_NO_HEAD),
    Option("--compat", frozenset((_BACKTRACE,)), "exactly the text of asyncio.print_call_graph()", flag=library.REQUEST_COMPAT),
    Option("--json", _EVERY, "print one JSON document (schema pyasync/1)", "json"),
    Option("--output", _EVERY, "write to FILE (0600, replaced at the end) and print nothing", "output", "FILE"),
    Option("--show-secrets", _SHOWN, "do not hide what looks like a password or token", flag=library.REQUEST_SHOW_SECRETS),
    Option("--exhaustive", _EVERY, "search all memory of a live process for Python's tables", flag=library.REQUEST_EXHAUSTIVE),
    Option("--no-map", _EVERY, "read a core through GDB only, for a core file that still changes", "no_map"),
    Option("--memory-stats", _EVERY, "say how much memory the library used", flag=library.REQUEST_MEMORY_STATS, hidden=True),
    Option("--help", _EVERY, "show this help", "help"),
)  # fmt: skip

_SHORT = {"-h": "--help"}


class Arguments:
    """A parsed command line."""

    def __init__(self) -> None:
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
        self.output: Optional[str] = None
        self.no_map = False
        self.help = False
        self.operands: List[str] = []

    @property
    def exhaustive(self) -> bool:
        return bool(self.flags & library.REQUEST_EXHAUSTIVE)


def options_of(command: int, hidden: bool = False) -> List[Option]:
    return [option for option in OPTIONS if command in option.commands and (hidden or not option.hidden)]


def parse(command: int, line: str, takes_operands: bool) -> Arguments:
    """Parse what follows the command's name, quoted as for a shell. Options stand anywhere before `--`. Raises UsageError."""
    known = {option.name: option for option in options_of(command, hidden=True)}
    arguments = Arguments()
    words = gdb.string_to_argv(line) if line.strip() else []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "--":
            arguments.operands += words[position:]
            break
        if not word.startswith("-") or word == "-":
            arguments.operands.append(word)
            continue
        name, equals, value = word.partition("=")
        name = _SHORT.get(name, name)
        option = known.get(name)
        if option is None:
            raise UsageError(f"unknown option {name}; --help lists the options, and -- ends them")
        if option.value and not equals:
            if position == len(words) or words[position].startswith("--"):
                raise UsageError(f"{name} needs a value: {name} {option.value}")
            value = words[position]
            position += 1
        elif equals and not option.value:
            raise UsageError(f"{name} takes no value")
        _apply(arguments, option, value)
    if arguments.operands and not takes_operands and not arguments.help:
        raise UsageError(f"takes no operand, but got '{arguments.operands[0]}'")
    return arguments


def _apply(arguments: Arguments, option: Option, value: str) -> None:
    arguments.flags = arguments.flags & ~option.unflag | option.flag
    if option.value:
        try:
            setattr(arguments, option.field, option.convert(value))
        except UsageError as error:
            raise UsageError(f"{option.name} {error}") from None
    elif option.field:
        setattr(arguments, option.field, True)


def option_help(command: int) -> str:
    """The lines of `help` about options."""
    lines = []
    for option in options_of(command):
        left = f"{option.name} {option.value}".rstrip()
        lines.append(f"  {left:<18} {option.help}")
    return "\n".join(lines)
