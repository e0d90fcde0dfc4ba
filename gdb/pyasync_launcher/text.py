"""What may be printed, and how numbers read."""

from typing import Iterable


def printable(text: str, keep: str = "") -> str:
    """Text of unknown origin, safe for a terminal: what is not printable is escaped, but for the characters of @p keep."""
    # A file name that is no UTF-8 comes with lone surrogates, which are not printable either.
    return "".join(char if char.isprintable() or char in keep else ascii(char)[1:-1] for char in text)


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def size(count: int) -> str:
    """Bytes, for people."""
    for unit, bytes_of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes_of:
            return f"{count / bytes_of:.1f} {unit}"
    return f"{count:,} byte{'s' if count != 1 else ''}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def some(names: Iterable[str], most: int = 5) -> str:
    """The first few names."""
    names = list(names)
    return ", ".join(printable(name) for name in names[:most]) + (f", … {len(names) - most:,} more" if len(names) > most else "")
