"""What an operand of a command stands for: a task's name, a pattern, or an address that GDB works out."""

import re
from typing import Callable, NamedTuple

import gdb

from . import library
from .arguments import UsageError
from .borrow import with_setting

_EXPRESSION = re.compile(r"0[xX]|[$&(*]")
_PATTERN = re.compile(r"[*?[]")
# Assignments write to the target (or to GDB's variables), and that is never done. Comparisons are harmless.
_ASSIGNMENT = re.compile(r"<<=|>>=|(?<![=!<>])=(?!=)|\+\+|--")


class TaskOperand(NamedTuple):
    kind: int
    text: str
    address: int = 0


def resolve(text: str, is_task_name: Callable[[str], bool]) -> TaskOperand:
    """
    The rule of the README, "Naming a task": an exact name first, then by what the text looks like. A leading `*` may begin an
    expression as well as a pattern (*worker*): it is an expression if GDB can evaluate it to data.
    """
    looks_like_expression = _EXPRESSION.match(text)
    looks_like_pattern = _PATTERN.search(text)
    if not looks_like_expression and not looks_like_pattern or is_task_name(text):
        return TaskOperand(library.OPERAND_NAME, text)
    if looks_like_expression:
        try:
            return TaskOperand(library.OPERAND_ADDRESS, text, _address(text))
        except (gdb.error, UsageError) as error:
            if not text.startswith("*"):
                raise UsageError(f"cannot evaluate '{text}': {error}") from None
    return TaskOperand(library.OPERAND_GLOB, text)


def _address(text: str) -> int:
    if _ASSIGNMENT.search(text):
        raise UsageError("an operand may not assign")
    return with_setting("may-call-functions", False, lambda: _evaluate(text))


def _evaluate(text: str) -> int:
    value = gdb.parse_and_eval(text)
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
        kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY) and value.address is not None:
        return _unsigned(value.address)
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM):
        return _unsigned(value)
    raise UsageError(f"its type {value.type} is no address")


def _unsigned(value: gdb.Value) -> int:
    return int(value) & (2**64 - 1)
