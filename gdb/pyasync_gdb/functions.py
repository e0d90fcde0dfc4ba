"""Convenience functions: tasks as values in GDB's expressions."""

from typing import Any

import gdb

from . import library
from .commands import one_line_errors
from .session import Sessions, tasks_in_state, tasks_named


class _Function(gdb.Function):
    """A function $NAME. What its documentation says first is what `help function` lists."""

    name: str

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        super().__init__(self.name)

    def invoke(self, *arguments: Any) -> Any:
        with one_line_errors():
            return self.answer(*arguments)

    def answer(self, *arguments: Any) -> Any:
        raise NotImplementedError


class Task(_Function):
    """$_py_task - the asyncio task of a name.
Usage: $_py_task (NAME)

The value is the task's address, a PyObject * if the program has that type in
its debug symbols, else an unsigned long. It is an error if no task or more
than one has that name, which is compared as it is: it is no pattern.

Examples:
  py-async-bt '$_py_task("Task-7")'
  print *(TaskObj *) $_py_task("Task-7")"""

    name = "_py_task"

    def answer(self, *arguments: Any) -> gdb.Value:
        if len(arguments) != 1:
            raise gdb.GdbError("$_py_task takes one argument: the name of a task")
        name = _text(arguments[0], "$_py_task takes the name of a task, a string")
        count, address = self._sessions.select(tasks_named(name))
        if count != 1:
            raise gdb.GdbError(f"{count} tasks have this name: py-async-tasks with it lists them")
        try:
            struct_name = library.struct_name(self._sessions.load_library(), library.STRUCT_OBJECT)
            kind = gdb.lookup_type(struct_name).pointer()
        except gdb.error:
            kind = gdb.selected_inferior().architecture().integer_type(64, False)
        return gdb.Value(address).cast(kind)


class TaskCount(_Function):
    """$_py_task_count - the number of asyncio tasks.
Usage: $_py_task_count ([STATE])

Without STATE: of the tasks that have not ended. A STATE is one of --state of
py-async-tasks, as "waiting", "ended" or "any".

Example:
  if $_py_task_count("ready") > 100
    py-async-bt --state ready
  end"""

    name = "_py_task_count"

    def answer(self, *arguments: Any) -> int:
        if len(arguments) > 1:
            raise gdb.GdbError("$_py_task_count takes at most one argument: a state")
        state = _text(arguments[0], "$_py_task_count takes a state, a string") if arguments else "live"
        return self._sessions.select(tasks_in_state(state))[0]


def _text(value: gdb.Value, wrong: str) -> str:
    if value.type.strip_typedefs().code not in (gdb.TYPE_CODE_ARRAY, gdb.TYPE_CODE_STRING, gdb.TYPE_CODE_PTR):
        raise gdb.GdbError(wrong)
    return value.string("utf-8", "surrogateescape")


FUNCTIONS = (Task, TaskCount)
