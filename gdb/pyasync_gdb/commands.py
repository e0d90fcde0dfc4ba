"""The commands: their names, help and completion. What they do is elsewhere."""

import os
import traceback
from contextlib import contextmanager
from typing import Iterator, List, Optional

import gdb

from . import library
from .arguments import Option, UsageError, option_help, options_of, parse
from .library import LibraryError
from .session import Sessions


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Whatever goes wrong, the user sees one line and never a Python traceback. Ctrl-C stays KeyboardInterrupt, GDB's "Quit"."""
    try:
        yield
    except (gdb.GdbError, KeyboardInterrupt):
        raise
    except (UsageError, LibraryError, gdb.error, MemoryError) as error:
        raise gdb.GdbError(" ".join(str(error).split()) or "out of memory") from None
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise gdb.GdbError(f"pyasync: internal error at {os.path.basename(place.filename)}:{place.lineno}: {what}") from None


class _Command(gdb.Command):
    """A command of ours: a row of the README's table."""

    name: str
    command: int
    category: int
    takes_operands = True
    names_tasks = True  # completion offers the names of tasks

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        super().__init__(self.name, self.category)

    def invoke(self, argument: str, from_tty: bool) -> None:
        with one_line_errors():
            try:
                arguments = parse(self.command, argument, self.takes_operands)
            except UsageError as error:
                raise UsageError(f"{self.name}: {error}") from None
            if arguments.help:
                gdb.write(f"{self.__doc__}\n")
            else:
                self._sessions.run(self.command, arguments)

    def complete(self, text: str, word: Optional[str]) -> List[str]:
        try:
            return self._complete(text, word)
        except (Exception, KeyboardInterrupt):
            return []  # completion never complains

    def _complete(self, text: str, word: Optional[str]) -> List[str]:
        if word is None:
            return []  # GDB only asks how to break the text into words
        before, _, token = text.rpartition(" ")
        words = gdb.string_to_argv(before) if before.strip() else []
        name, equals, begin = token.partition("=")
        if "--" in words:
            candidates = self._operands(token, words)
        elif equals and name.startswith("--"):
            candidates = [f"{name}={value}" for value in _values(self._option(name), begin)]
        elif words and self._option(words[-1]) is not None:
            candidates = _values(self._option(words[-1]), token)
        elif token.startswith("-"):
            candidates = [option.name for option in options_of(self.command)]
        else:
            candidates = self._operands(token, words)
        # GDB breaks words at "-" too and puts what we return in the place of `word` alone, the last part of our token.
        skip = max(len(token) - len(word), 0)
        return [candidate[skip:] for candidate in candidates if candidate.startswith(token)]

    def _operands(self, begin: str, words: List[str]) -> List[str]:
        return self._sessions.complete(begin, words) if self.takes_operands and self.names_tasks else []

    def _option(self, name: str) -> Optional[Option]:
        """The option of this name if it takes a value."""
        return next((option for option in options_of(self.command) if option.value and option.name == name), None)


def _values(option: Optional[Option], begin: str) -> List[str]:
    if option is None:
        return []
    return _file_names(begin) if option.value == "FILE" else list(option.choices)


def _file_names(begin: str) -> List[str]:
    """The files that begin so. Not gdb.COMPLETE_FILENAME: before GDB 16 that takes the options before for a part of the name."""
    folder, _, name = begin.rpartition("/")
    place = os.path.expanduser(folder + "/") if folder or begin.startswith("/") else "."
    found = []
    for entry in os.scandir(place):
        if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
            found.append(begin[: len(begin) - len(name)] + entry.name + ("/" if entry.is_dir() else ""))
    if len(found) == 1 and found[0].endswith("/"):
        # GDB would end the word with a blank: show what is in the folder instead.
        return _file_names(found[0]) or found
    return found


class AsyncBacktrace(_Command):
    name = "py-async-bt"
    command = library.COMMAND_BACKTRACE
    category = gdb.COMMAND_STACK
    __doc__ = f"""Print the asyncio call graph: tasks, their stacks and who awaits them.
Usage: py-async-bt [OPTION]... [TASK]...

Without a TASK: the task that runs in the selected thread, else the tasks that
run in other threads, else all tasks, grouped by stack.

A TASK is the exact name of tasks, else a pattern if it has one of *?[, else
an expression if it begins with 0x, $, *, & or (: the address of a task, a
future, or a coroutine, generator or async generator on a task's stack.

Options:
{option_help(library.COMMAND_BACKTRACE)}

Examples:
  py-async-bt                     what runs, or else everything
  py-async-bt Task-7 --source     one task, with source lines
  py-async-bt 'worker-*' --no-group
  py-async-bt $rdi                the task of the coroutine in a register
  py-async-bt --in pool.py:41     every task that is at this line
  py-async-bt --json --output graph.json"""


class AwaitedBy(_Command):
    name = "py-awaited-by"
    command = library.COMMAND_AWAITED_BY
    category = gdb.COMMAND_STACK
    __doc__ = f"""Print who waits for a task or future, directly or through others.
Usage: py-awaited-by [OPTION]... [TASK|GREENLET]...

Without a TASK: all tasks, each below the ones that wait for it.
A TASK is named as for py-async-bt. A node that is met twice is printed once
and referred to after; a cycle is named. A GREENLET is an address, as for
py-greenlets: the task that runs through it is meant. If there is none: its
parent, to which it returns, and those who wait for it by gevent (join(),
get(), an AsyncResult or pool that it is linked to).

Options:
{option_help(library.COMMAND_AWAITED_BY)}

Examples:
  py-awaited-by Task-7
  py-awaited-by 0x7f3001360d70
  py-awaited-by --depth 5
  py-awaited-by --dot --output graph.dot"""


class AsyncTasks(_Command):
    name = "py-async-tasks"
    command = library.COMMAND_TASKS
    category = gdb.COMMAND_STATUS
    __doc__ = f"""List the asyncio tasks, one line each.
Usage: py-async-tasks [OPTION]... [TASK]...

A TASK is named as for py-async-bt.

Options:
{option_help(library.COMMAND_TASKS)}

Examples:
  py-async-tasks
  py-async-tasks --state waiting --in fetch
  py-async-tasks --thread 3
  py-async-tasks --stats --state any"""


class Greenlets(_Command):
    name = "py-greenlets"
    command = library.COMMAND_GREENLETS
    category = gdb.COMMAND_STACK
    names_tasks = False
    __doc__ = f"""List the greenlets: what each does, its thread, parent and Python stack.
Usage: py-greenlets [OPTION]... [GREENLET]...

A greenlet that is suspended is on no thread's list of frames, so that no other
backtrace shows it. A GREENLET is an expression: its address.

Options:
{option_help(library.COMMAND_GREENLETS)}

Examples:
  py-greenlets
  py-greenlets 0x7f3001360d70 --source
  py-greenlets --state suspended --no-group"""


class AsyncReport(_Command):
    name = "py-async-report"
    command = library.COMMAND_REPORT
    category = gdb.COMMAND_STACK
    takes_operands = False
    __doc__ = f"""Print one screen about a process that died or hangs, for a ticket or a log.
Usage: py-async-report [OPTION]...

What process it was and how it died, the stack of the thread that died with
native and Python frames, who waited for its task, the other threads, what is
remarkable, all tasks and greenlets in groups, and a signature that is equal
for equal crashes.

Options:
{option_help(library.COMMAND_REPORT)}

Examples:
  py-async-report
  py-async-report --json --output report.json"""


class AsyncInfo(_Command):
    name = "py-async-info"
    command = library.COMMAND_INFO
    category = gdb.COMMAND_STATUS
    takes_operands = False
    __doc__ = f"""Show what pyasync found of CPython and asyncio in the target, and how.
Usage: py-async-info [OPTION]...

Versions, tables, the source of each field's offset, what is missing and what
that costs.

Options:
{option_help(library.COMMAND_INFO)}

Examples:
  py-async-info
  py-async-info --json --output info.json"""


COMMANDS = (AsyncBacktrace, AwaitedBy, AsyncTasks, Greenlets, AsyncReport, AsyncInfo)
