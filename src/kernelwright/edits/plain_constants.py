"""Integers and floating point numbers as LLVM writes them, as bytes, and what lies near them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kernelwright.ir import ConstantFloat, ConstantInt, Type
from kernelwright.ir.constants import float_value
from kernelwright.ir.types import FloatType, IntType

_FORMATS = {"half": "<e", "float": "<f", "double": "<d"}


def bits_of(type: Type, text: str) -> bytes | None:
    """The bytes of a constant that LLVM would write just so; None for anything else."""
    try:
        if isinstance(type, IntType) and type.bits == 1:
            return {"true": b"\1", "false": b"\0"}.get(text)
        if isinstance(type, IntType) and type.bits in (8, 16, 32, 64) and ConstantInt(type, int(text)).text == text:
            return int(text).to_bytes(type.bits // 8, "little", signed=True)
        code = _FORMATS.get(type.kind) if isinstance(type, FloatType) else None
        if code and ConstantFloat.of(type, float_value(text)).text == text:
            return struct.pack(code, float_value(text))
    except (ValueError, OverflowError, struct.error, KeyError, IndexError):
        return None
    return None


def text_of(type: Type, bits: bytes) -> str | None:
    """The constant with these bytes, as LLVM writes it; None when it has no plain form (pointers, structs, NaN)."""
    if isinstance(type, IntType) and type.bits == 1:
        return {b"\1": "true", b"\0": "false"}.get(bits)
    if isinstance(type, IntType) and type.bits == 8 * len(bits) and type.bits in (8, 16, 32, 64):
        return ConstantInt(type, int.from_bytes(bits, "little", signed=True)).text
    if isinstance(type, FloatType) and type.kind in _FORMATS and struct.calcsize(_FORMATS[type.kind]) == len(bits):
        text = ConstantFloat.of(type, struct.unpack(_FORMATS[type.kind], bits)[0]).text
        return text if bits_of(type, text) == bits else None
    return None


def neighbours(type: Type, text: str) -> list[str]:
    """Other constants to try in place of one: 0, 1, -1, one more, one less, its double, its half, its negative, the powers
    of two around it; in this order, each once."""
    found: list[str] = []
    try:
        if isinstance(type, IntType) and type.bits > 1:
            found = [ConstantInt(type, n).text for n in _near_integer(int(text))]
        elif isinstance(type, FloatType) and type.kind in _FORMATS:
            value = float_value(text)
            if value - value == 0:
                found = [ConstantFloat.of(type, n).text for n in (0.0, 1.0, -1.0, value * 2, value / 2, -value)]
    except (ValueError, OverflowError):
        return []
    return [t for t in dict.fromkeys(found) if t != text]


def _near_integer(n: int) -> Iterator[int]:
    yield from (0, 1, -1, n + 1, n - 1, n * 2, n // 2, -n)
    if n > 1:
        above = 1 << (n - 1).bit_length()
        yield from (above, above >> 1)
