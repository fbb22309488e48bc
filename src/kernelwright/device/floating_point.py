"""Floating point as the GPU does it, on Python floats: formats, rounding modes, exact fused operations, conversions.

A ``half``, ``bfloat`` or ``float`` value is a Python float that the format holds exactly; a NaN that came from memory
or from an integer is a ``Payload``, so that copying data through float registers keeps every bit. A NaN that
arithmetic makes is a plain one, and has the bits ``canonical_nan`` when it is stored.

Sums, products and quotients of two values of at most 24 bits, computed in double and rounded once more, are the
correctly rounded results, because 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995). Everything
else here works on exact rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, Literal, cast

import numpy as np

from kernelwright.lazy_dataclasses import dataclass

Mode = Literal["rn", "rz", "rm", "rp", "rna"]
"""Rounding: to nearest even, towards zero, towards minus infinity, towards plus infinity, to nearest with ties away."""

INF: Final = math.inf
NAN: Final = math.nan


@dataclass(frozen=True)
class Format:
    """A binary floating point format: ``precision`` bits of significand, smallest normal exponent ``minimum``."""

    name: str
    bits: int
    precision: int
    minimum: int
    maximum: int
    canonical_nan: int

    @property
    def largest(self) -> float:
        """The largest finite number of the format."""
        return math.ldexp(2**self.precision - 1, self.maximum - self.precision + 1)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number that is not subnormal."""
        return math.ldexp(1.0, self.minimum)


# Canonical NaN bits: PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions".
HALF = Format("half", 16, 11, -14, 15, 0x7FFF)
BFLOAT = Format("bfloat", 16, 8, -126, 127, 0x7FFF)
SINGLE = Format("float", 32, 24, -126, 127, 0x7FFFFFFF)
DOUBLE = Format("double", 64, 53, -1022, 1023, 0x7FF8000000000000)


class Payload(float):
    """A NaN with the exact bits it was loaded with."""

    __slots__ = ("bits",)
    bits: int


def payload(bits: int) -> Payload:
    """A NaN that remembers its 32 bits."""
    nan = Payload(NAN)
    nan.bits = bits
    return nan


def _cells(size: int, code: str, integer: str) -> tuple[Any, Any]:
    raw = cast(Any, memoryview(bytearray(size)))
    return raw.cast(code), raw.cast(integer)


# One cell each, seen as a float and as an integer: the fastest conversion there is, and it saturates to infinity.
F32, I32 = _cells(4, "f", "I")
F64, I64 = _cells(8, "d", "Q")


def round_single(x: float) -> float:
    """To the nearest single-precision number, ties to even."""
    F32[0] = x
    return float(F32[0])


def single_bits(x: float) -> int:
    """The 32 bits of a ``float`` value."""
    if x != x:
        return x.bits if type(x) is Payload else SINGLE.canonical_nan
    F32[0] = x
    return int(I32[0])


def single_from_bits(bits: int) -> float:
    """The number that 32 bits stand for; of a NaN with its bits."""
    I32[0] = bits
    x = float(F32[0])
    return x if x == x else payload(bits)


def double_bits(x: float) -> int:
    """The 64 bits of a number."""
    F64[0] = x
    return int(I64[0])


def double_from_bits(bits: int) -> float:
    """The number that 64 bits stand for."""
    I64[0] = bits
    return float(F64[0])


def _half_values() -> list[float]:
    values = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64).tolist()
    return [v if v == v else payload(bits) for bits, v in enumerate(values)]


HALF_VALUES: list[float] = _half_values()
"""``half`` from its bits."""


def half_bits(x: float) -> int:
    """The 16 bits of a ``half`` value."""
    if x != x:
        return x.bits if type(x) is Payload else HALF.canonical_nan
    return int(np.float16(x).view(np.uint16))


def round_half(x: float) -> float:
    """Rounds a double to ``half``: NumPy rounds once, to nearest even."""
    with np.errstate(all="ignore"):
        return float(np.float16(x)) if x == x else NAN


def bfloat_bits(x: float) -> int:
    """The 16 bits of a ``bfloat`` value."""
    if x != x:
        return x.bits if type(x) is Payload else BFLOAT.canonical_nan
    F32[0] = x
    return int(I32[0]) >> 16


def bfloat_from_bits(bits: int) -> float:
    """The number that 16 bits stand for as bfloat16."""
    I32[0] = bits << 16
    x = float(F32[0])
    return x if x == x else payload(bits)


def round_bfloat(x: float) -> float:
    """To the nearest bfloat16 number, ties to even."""
    return round_to(x, BFLOAT, "rn")


# -- exact rounding ----------------------------------------------------------------------------------------------------


def round_ratio(numerator: int, denominator: int, format: Format, mode: Mode) -> float:
    """``numerator / denominator``, both positive or the first negative, rounded once. Zero gives ``+0.0``."""
    if numerator == 0:
        return 0.0
    negative, n = numerator < 0, abs(numerator)
    exponent = n.bit_length() - denominator.bit_length()
    if (n << max(-exponent, 0)) < (denominator << max(exponent, 0)):
        exponent -= 1
    unit = max(exponent, format.minimum) - format.precision + 1
    whole, rest = divmod(n << max(-unit, 0), denominator << max(unit, 0))
    twice, divisor = 2 * rest, denominator << max(unit, 0)
    if mode == "rn":
        up = twice > divisor or (twice == divisor and whole & 1)
    elif mode == "rna":
        up = twice >= divisor
    else:
        up = rest > 0 and mode == ("rm" if negative else "rp")
    whole += bool(up)
    if whole.bit_length() + unit - 1 > format.maximum:
        away = mode in ("rn", "rna") or mode == ("rm" if negative else "rp")
        size = INF if away else format.largest
    else:
        size = math.ldexp(whole, unit)
    return -size if negative else size


def round_to(x: float, format: Format, mode: Mode = "rn") -> float:
    """A double in a narrower format."""
    if x != x:
        return NAN
    if x in (0.0, INF, -INF):
        return x
    n, d = x.as_integer_ratio()
    rounded = round_ratio(n, d, format, mode)
    return math.copysign(rounded, x)


def flush(x: float, format: Format = SINGLE) -> float:
    """A subnormal becomes a zero of its sign (the ``.ftz`` modifier)."""
    return math.copysign(0.0, x) if -format.smallest_normal < x < format.smallest_normal else x


def saturate(x: float) -> float:
    """The ``.sat`` modifier: into [0, 1], NaN to +0."""
    return min(x, 1.0) if x > 0.0 else 0.0


def _exact_zero(negative: bool, mode: Mode) -> float:
    """The sign of a sum that is exactly zero without both terms being negative zero (IEEE 754, 6.3)."""
    return -0.0 if negative or mode == "rm" else 0.0


def add(a: float, b: float, format: Format, mode: Mode) -> float:
    """The exact sum, rounded once to a format in a mode."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    exact = Fraction(a) + Fraction(b)
    if exact == 0:
        same_sign = math.copysign(1.0, a) == math.copysign(1.0, b)
        return a if same_sign else _exact_zero(False, mode)
    return round_ratio(exact.numerator, exact.denominator, format, mode)


def multiply(a: float, b: float, format: Format, mode: Mode) -> float:
    """The exact product, rounded once to a format in a mode."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b
    exact = Fraction(a) * Fraction(b)
    return round_ratio(exact.numerator, exact.denominator, format, mode)


def divide(a: float, b: float, format: Format, mode: Mode) -> float:
    """The exact quotient, rounded once to a format in a mode."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return quotient(a, b)
    exact = Fraction(a) / Fraction(b)
    return round_ratio(exact.numerator, exact.denominator, format, mode)


def fused(a: float, b: float, c: float, format: Format, mode: Mode = "rn") -> float:
    """``a * b + c`` with one rounding."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c if not (math.isfinite(a) and math.isfinite(b)) else c + 0.0
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        negative = math.copysign(1.0, a) * math.copysign(1.0, b) < 0
        if a == 0 or b == 0 or c == 0:  # the product is a signed zero, and so is c
            return (
                -0.0
                if negative and math.copysign(1.0, c) < 0
                else _exact_zero(False, mode if negative != (math.copysign(1.0, c) < 0) else "rn")
            )
        return _exact_zero(False, mode)
    return round_ratio(exact.numerator, exact.denominator, format, mode)


def square_root(x: float, format: Format, mode: Mode) -> float:
    """The exact root, rounded once to a format in a mode; NaN for what is below zero."""
    if x != x or x < 0:
        return NAN
    if x == 0 or x == INF:
        return x
    n, d = x.as_integer_ratio()
    # n/d = root^2 / 4^shift with at least 64 correct bits below the result's last; the remainder stays as a sticky bit.
    shift = max(0, 128 + d.bit_length() - n.bit_length() // 2)
    scaled, rest = divmod(n << (2 * shift), d)
    root = math.isqrt(scaled)
    sticky = int(rest != 0 or root * root != scaled)
    return round_ratio(2 * root + sticky, 2 << shift, format, mode)


def fused_single(a: float, b: float, c: float) -> float:
    """``fma`` of three ``float`` values, to nearest: the product is exact in double, and the sum is rounded to odd
    before it is rounded to 24 bits, which is what a single rounding would give (Boldo and Melquiond, 2008)."""
    product = a * b
    total = product + c
    if total - total != 0.0:  # infinite or NaN
        F32[0] = total
        return float(F32[0])
    part = total - product
    error = (product - (total - part)) + (c - part)
    if error != 0.0:
        F64[0] = total
        if not I64[0] & 1:
            I64[0] += 1 if (error > 0.0) == (total > 0.0) else -1
            total = F64[0]
    F32[0] = total
    return float(F32[0])


def fused_double(a: float, b: float, c: float) -> float:
    """``a * b + c`` in double precision, rounded once."""
    return fused(a, b, c, DOUBLE)


def quotient(a: float, b: float) -> float:
    """IEEE division in double, where Python raises for a zero divisor."""
    if b != 0.0:
        return a / b
    if a != a or a == 0.0:
        return NAN
    return math.copysign(INF, a) * math.copysign(1.0, b)


def remainder(a: float, b: float) -> float:
    """C's ``fmod``, exact; NaN where Python raises."""
    if a != a or b != b or b == 0.0 or a in (INF, -INF):
        return NAN
    return math.fmod(a, b)


# -- integers ----------------------------------------------------------------------------------------------------------


def from_integer(value: int, format: Format, mode: Mode = "rn") -> float:
    """A signed Python integer as a float, rounded once."""
    if format is DOUBLE and mode == "rn":
        try:
            return float(value)
        except OverflowError:
            return math.copysign(INF, value)
    return round_ratio(value, 1, format, mode)


def to_integer(x: float, bits: int, signed: bool, mode: Mode = "rz", nan: int = 0) -> int:
    """A float as an unsigned ``bits`` wide pattern: rounded, then clamped to the range. NaN gives ``nan``."""
    if x != x:
        return nan
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if x >= high:
        return high
    if x <= low:
        return low & ((1 << bits) - 1)
    return min(max(whole(x, mode), low), high) & ((1 << bits) - 1)


def whole(x: float, mode: Mode) -> int:
    """A finite float as the integer that the mode rounds it to."""
    if mode == "rz":
        return math.trunc(x)
    if mode == "rm":
        return math.floor(x)
    if mode == "rp":
        return math.ceil(x)
    if mode == "rn":
        return round(x)
    below = math.floor(abs(x))
    size = below + (abs(x) - below >= 0.5)
    return -size if x < 0 else size


def integral(x: float, mode: Mode) -> float:
    """A float rounded to an integer value, in its own format, keeping the sign of zero."""
    if x - x != 0.0 or abs(x) >= 2**52:
        return x + 0.0
    return math.copysign(float(whole(x, mode)), x)


def minimum(a: float, b: float) -> float:
    """PTX ``min``: a NaN gives way to the other operand, -0.0 is less than +0.0."""
    if a != a:
        return b if b == b else NAN
    if a == b == 0.0:
        return a if math.copysign(1.0, a) < 0 else b
    return a if b != b or a < b else b


def maximum(a: float, b: float) -> float:
    """PTX ``max``: a NaN gives way to the other operand, -0.0 is less than +0.0."""
    if a != a:
        return b if b == b else NAN
    if a == b == 0.0:
        return b if math.copysign(1.0, a) < 0 else a
    return a if b != b or a > b else b
