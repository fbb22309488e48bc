"""C's ``printf`` for device code: a format and a packed buffer of arguments in, text out.

The buffer holds the arguments one after the other, each at its natural alignment, after C's default promotions: ``int``
and narrower take 4 bytes, ``double``, ``long`` and pointers 8. Each conversion is done by the C library of the host, so
that kernels print what host code would.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from typing import Any

_SPECIFIER = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?"
    r"(?P<kind>[diouxXcsSpeEfFgGaA%])"
)
_WIDE = ("l", "ll", "j", "z", "t")
_LONGEST = 1 << 20
"""Characters that one conversion may make; what is longer is cut."""


class _Arguments:
    """Takes arguments off the packed buffer."""

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self.read = read
        self.offset = 0
        self.count = 0

    def take(self, code: str) -> Any:
        size = struct.calcsize(code)
        self.offset = (self.offset + size - 1) & -size
        (value,) = struct.unpack("<" + code, self.read(self.offset, size))
        self.offset += size
        self.count += 1
        return value


def format_text(format: str, read: Callable[[int, int], bytes], read_string: Callable[[int], str]) -> tuple[str, int]:
    """The text, and how many arguments it took.

    ``read(offset, size)`` gives bytes of the packed buffer, ``read_string(address)`` the text at a pointer. A specifier
    is unknown is printed as it stands.
    """
    arguments = _Arguments(read)
    return _SPECIFIER.sub(lambda m: _one(m, arguments, read_string), format), arguments.count


def _one(match: re.Match[str], arguments: _Arguments, read_string: Callable[[int], str]) -> str:
    kind, length = match["kind"], match["length"] or ""
    if kind == "%":
        return "%"
    width = arguments.take("i") if match["width"] == "*" else match["width"] or ""
    precision: Any = arguments.take("i") if match["precision"] == "*" else match["precision"]
    negative = match["precision"] == "*" and precision < 0
    point = "" if precision is None or negative else f".{precision}"
    fragment = f"%{match['flags']}{width}{point}"
    if kind in "diouxX":
        wide = length in _WIDE
        code = ("q" if wide else "i") if kind in "di" else "Q" if wide else "I"
        value = ctypes.c_longlong(arguments.take(code)) if wide else ctypes.c_int(arguments.take(code))
        return _converted(f"{fragment}{'ll' if wide else length}{kind}", value)
    if kind in "sS":
        return _converted(f"{fragment}s", ctypes.c_char_p(read_string(arguments.take("Q")).encode()))
    if kind == "c":
        return _converted(f"{fragment}c", ctypes.c_int(arguments.take("i")))
    if kind == "p":
        return _converted(f"{fragment}p", ctypes.c_void_p(arguments.take("Q")))
    return _converted(f"{fragment}{kind}", ctypes.c_double(arguments.take("d")))


def _converted(fragment: str, value: Any) -> str:
    """One conversion by the C library."""
    size = 256
    while True:
        buffer = ctypes.create_string_buffer(size)
        needed = ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(size), fragment.encode(), value)
        if needed < size or size >= _LONGEST:
            return buffer.value.decode("utf-8", "replace")
        size = min(needed + 1, _LONGEST)
