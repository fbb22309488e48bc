"""C's ``printf`` for device code: a format and a packed buffer of arguments in, text out.

The buffer holds the arguments one after the other, each at its natural alignment, after C's default promotions: ``int``
and narrower take 4 bytes, ``double``, ``long`` and pointers 8.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable

_SPECIFIER = re.compile(r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
                        r"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>[diouxXcsSpeEfFgGaA%])")  # fmt: skip

_WIDE = ("l", "ll", "j", "z", "t")


class _Arguments:
    """Takes arguments off the packed buffer."""

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self.read = read
        self.offset = 0
        self.count = 0

    def take(self, code: str) -> int | float:
        size = struct.calcsize(code)
        self.offset = (self.offset + size - 1) & -size
        value: int | float = struct.unpack("<" + code, self.read(self.offset, size))[0]
        self.offset += size
        self.count += 1
        return value


def format_text(
    format: str, read: Callable[[int, int], bytes], read_string: Callable[[int], str]
) -> tuple[str, int]:
    """The text, and how many arguments it took.

    ``read(offset, size)`` gives bytes of the packed buffer, ``read_string(address)`` the text at a pointer. A specifier
    nobody knows is printed as it stands.
    """
    arguments = _Arguments(read)
    return _SPECIFIER.sub(lambda m: _one(m, arguments, read_string), format), arguments.count


def _one(match: re.Match[str], arguments: _Arguments, read_string: Callable[[int], str]) -> str:
    kind, flags = match["kind"], match["flags"]
    if kind == "%":
        return "%"
    width = int(arguments.take("i")) if match["width"] == "*" else int(match["width"] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision = match["precision"]
    if precision == "*":
        taken = int(arguments.take("i"))
        precision = str(taken) if taken >= 0 else None
    digits = None if precision is None else int(precision or 0)
    text = _converted(kind, flags, digits, match["length"] or "", arguments, read_string)
    if len(text) >= width:
        return text
    if "-" in flags:
        return text.ljust(width)
    zero_fills = "0" in flags and kind not in "csSp" and (digits is None or kind not in "diouxX")
    return _zero_filled(text, width) if zero_fills and text[-1] not in "fnFN" else text.rjust(width)


def _zero_filled(text: str, width: int) -> str:
    """Zeros between the sign or ``0x`` and the digits."""
    head = re.match(r"[-+ ]?(0[xX])?", text)
    assert head is not None
    return head[0] + "0" * (width - len(text)) + text[head.end() :]


def _converted(
    kind: str, flags: str, digits: int | None, length: str, arguments: _Arguments, read_string: Callable[[int], str]
) -> str:
    if kind in "sS":
        return read_string(int(arguments.take("Q")))[:digits]
    if kind == "c":
        return chr(int(arguments.take("i")) & 0xFF)
    if kind == "p":
        return f"{int(arguments.take('Q')):#x}"
    if kind in "di":
        return _integer(int(arguments.take("q" if length in _WIDE else "i")), "d", flags, digits, length)
    if kind in "ouxX":
        return _integer(int(arguments.take("Q" if length in _WIDE else "I")), kind, flags, digits, length)
    return _float(float(arguments.take("d")), kind, flags, digits)


def _integer(value: int, kind: str, flags: str, digits: int | None, length: str) -> str:
    bits = {"hh": 8, "h": 16}.get(length)
    if bits:
        value &= (1 << bits) - 1
        if kind == "d" and value >> (bits - 1):
            value -= 1 << bits
    text = format(abs(value), {"u": "d"}.get(kind, kind))
    if digits is not None:
        text = "" if digits == 0 and value == 0 else text.rjust(digits, "0")
    if "#" in flags and value:
        text = {"o": "0", "x": "0x", "X": "0X"}.get(kind, "") + text
    sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return (sign if kind == "d" else "") + text


def _float(value: float, kind: str, flags: str, digits: int | None) -> str:
    sign = "-" if math.copysign(1.0, value) < 0 else "+" if "+" in flags else " " if " " in flags else ""
    size = abs(value)
    if size - size != 0.0:
        word = "nan" if size != size else "inf"
        return sign + (word.upper() if kind.isupper() else word)
    if kind in "aA":
        return sign + _hexadecimal(size, kind, digits)
    alternative = "#" if "#" in flags else ""
    return sign + format(size, f"{alternative}.{6 if digits is None else digits}{kind}")


def _hexadecimal(size: float, kind: str, digits: int | None) -> str:
    text = size.hex()
    if digits is None:  # C prints no zeros at the end
        text = re.sub(r"\.?0*p", "p", text)
    else:
        mantissa, exponent = math.frexp(size)
        scaled = round(math.ldexp(mantissa, 4 * digits + 1)) if size else 0
        whole, rest = divmod(scaled, 1 << (4 * digits))
        fraction = f".{rest:0{digits}x}" if digits else ""
        text = f"0x{whole}{fraction}p{exponent - 1 if size else 0:+d}"
    return text.upper() if kind == "A" else text
