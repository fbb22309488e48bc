"""The functions that intrinsic templates call by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kernelwright.device import floating_point as num
from kernelwright.device.value_layout import signed


def _safe(function: Callable[[float], float], x: float) -> float:
    """A function of ``math`` where it raises: infinite on overflow and at poles, else NaN."""
    try:
        return function(x)
    except OverflowError:
        return num.INF if function is not math.sinh or x > 0 else -num.INF
    except ValueError:
        return -num.INF if x == 0 and function in (math.log, math.log2, math.log10) else num.NAN


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else x if x == 0 else num.NAN


def _inverse(x: float) -> float:
    return num.quotient(1.0, x)


def _inverse_root(x: float) -> float:
    return num.quotient(1.0, _root(x)) if x != 0 else math.copysign(num.INF, x)


def _upper_half(x: float) -> float:
    return num.double_from_bits(num.double_bits(x) >> 32 << 32) if x == x else x


def _reciprocal(x: float, format: num.Format, mode: num.Mode) -> float:
    return num.divide(1.0, x, format, mode)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -num.INF if x < 0 and y % 2 == 1 else num.INF
    except ValueError:
        if x == 0:  # zero to a negative power
            return math.copysign(num.INF, x) if y % 2 == 1 else num.INF
        return num.NAN


def _relu(x: float) -> float:
    return x if x > 0 or x != x else 0.0


def _scale(x: float, exponent: int, format: num.Format) -> float:
    if x - x != 0.0 or x == 0.0:
        return x * 1.0
    n, d = x.as_integer_ratio()
    exponent = min(max(exponent, -5000), 5000)
    rounded = num.round_ratio(n << max(exponent, 0), d << max(-exponent, 0), format, "rn")
    return math.copysign(rounded, x)


def _fraction_and_exponent(x: float, width: int) -> tuple[float, int]:
    if x - x != 0.0:
        return x * 1.0, 0
    fraction, exponent = math.frexp(x)
    return fraction, exponent & ((1 << width) - 1)


def _parts(x: float) -> tuple[float, float]:
    if x != x or x - x != 0.0:
        return (num.NAN, num.NAN) if x != x else (math.copysign(0.0, x), x)
    fraction, whole = math.modf(x)
    return fraction, whole


def _extreme(function: Callable[[float, float], float], a: float, b: float, nan: bool) -> float:
    return num.NAN if nan and (a != a or b != b) else function(a, b)


def _extreme_xorsign(function: Callable[[float, float], float], a: float, b: float, nan: bool) -> float:
    """The extreme of the magnitudes, with the product of the signs."""
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return math.copysign(_extreme(function, abs(a), abs(b), nan), sign)


def _is_class(x: float, format: num.Format) -> int:
    """The one bit of LLVM's ``is.fpclass`` mask that describes ``x``."""
    if x != x:
        quiet = x.bits >> (format.precision - 2) & 1 if type(x) is num.Payload else 1
        return 2 if quiet else 1
    negative = math.copysign(1.0, x) < 0
    size = abs(x)
    kind = 3 if size == 0 else 2 if size < format.smallest_normal else 1 if size < num.INF else 0
    return 1 << (2 + kind) if negative else 1 << (9 - kind)


def _swap_bytes(x: int, width: int) -> int:
    return int.from_bytes(int(x).to_bytes(width // 8, "little"), "big")


def _reverse_bits(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def _clamp(x: int, width: int) -> int:
    half = 1 << (width - 1)
    return min(max(x, -half), half - 1) & ((1 << width) - 1)


def _overflowing(x: int, width: int) -> tuple[int, bool]:
    half = 1 << (width - 1)
    return x & ((1 << width) - 1), not -half <= x < half


def _permute(a: int, b: int, i0: int, i1: int, i2: int, i3: int, selector: int) -> int:
    """``prmt``: four bytes picked from eight; bit 3 of a selector repeats the sign bit of the byte picked."""
    source = b << 32 | a
    result = 0
    for n, index in enumerate((i0, i1, i2, i3)):
        byte = source >> (8 * index) & 0xFF
        if selector >> (4 * n + 3) & 1:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * n)
    return result


# Which bytes each mode of prmt picks, by the two low bits of the selector (PTX ISA, prmt, table of modes).
_MODE_BYTES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def _permute_mode(mode: str, a: int, b: int, selector: int) -> int:
    return _permute(a, b, *_MODE_BYTES[mode][selector & 3], 0)


def _find_nth_set(mask: int, base: int, offset: int) -> int:
    """PTX ``fns``: the position of the n-th set bit from ``base``, upwards or downwards; all ones when there is none."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
    step, count = (1, offset) if offset > 0 else (-1, -offset)
    position = base
    while 0 <= position < 32:
        if mask >> position & 1:
            count -= 1
            if count == 0:
                return position
        position += step
    return 0xFFFFFFFF


def _find_leading(x: int, width: int, as_shift: int) -> int:
    """PTX ``bfind``: the position of the highest set bit, or the shift that brings it to the top; all ones for zero."""
    if x == 0:
        return 0xFFFFFFFF
    position = int(x).bit_length() - 1
    return width - 1 - position if as_shift else position


def _extend(x: int, width: int, is_signed: bool) -> int:
    """The low ``width`` bits, extended to 32."""
    if width == 0:
        return 0
    low = x & ((1 << width) - 1)
    return signed(low, width) & 0xFFFFFFFF if is_signed else low


def _lanes(x: int, width: int, count: int, is_signed: bool) -> list[int]:
    mask = (1 << width) - 1
    values = [x >> (width * n) & mask for n in range(count)]
    return [signed(v, width) for v in values] if is_signed else values


def _dot(a: int, b: int, width: int, a_signed: bool, b_signed: bool) -> int:
    pairs = zip(_lanes(a, width, 4, a_signed), _lanes(b, width, 4, b_signed), strict=True)
    return sum(x * y for x, y in pairs)


def _dot_pairs(a: int, b: int, high: int, a_signed: bool, b_signed: bool) -> int:
    """``dp2a``: two 16-bit values of ``a`` with the lower or upper two bytes of ``b``."""
    bytes_of_b = _lanes(b, 8, 4, b_signed)[2 if high else 0 :][:2]
    return sum(x * y for x, y in zip(_lanes(a, 16, 2, a_signed), bytes_of_b, strict=True))


HELPERS: dict[str, Any] = {
    "math": math,
    "signed": signed,
    "safe": _safe,
    "root": _root,
    "inverse": _inverse,
    "inverse_root": _inverse_root,
    "upper_half": _upper_half,
    "reciprocal": _reciprocal,
    "power": _power,
    "relu": _relu,
    "scale": _scale,
    "fraction_and_exponent": _fraction_and_exponent,
    "parts": _parts,
    "extreme": _extreme,
    "extreme_xorsign": _extreme_xorsign,
    "is_class": _is_class,
    "swap_bytes": _swap_bytes,
    "reverse_bits": _reverse_bits,
    "clamp": _clamp,
    "overflowing": _overflowing,
    "permute": _permute,
    "permute_mode": _permute_mode,
    "find_nth_set": _find_nth_set,
    "find_leading": _find_leading,
    "extend": _extend,
    "dot": _dot,
    "dot_pairs": _dot_pairs,
    "integral": num.integral,
    "minimum": num.minimum,
    "maximum": num.maximum,
    "saturate": num.saturate,
    "round_to": num.round_to,
    "add": num.add,
    "multiply": num.multiply,
    "divide": num.divide,
    "square_root": num.square_root,
}
