"""The meaning of LLVM's arithmetic on a GPU, as Python expressions.

In a template ``{a}`` and ``{b}`` are operands, ``{W}`` the width of the first, ``{S}`` its sign bit, ``{M}`` its mask, and
``{w}``, ``{s}``, ``{m}`` the same of the result. A vector operation is the template applied to each element. Where LLVM
leaves the result undefined the template says what the hardware does; ``docs/semantics.md`` tells it in prose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.device import floating_point as num
from kernelwright.device.value_layout import signed
from kernelwright.ir.types import FloatType, IntType, PointerType, Type

# -- integers ----------------------------------------------------------------------------------------------------------

INTEGER = {
    "add": "{a} + {b} & {M}",
    "sub": "{a} - {b} & {M}",
    "mul": "{a} * {b} & {M}",
    # Division by zero: all ones, as the code that ptxas emits answers.
    "udiv": "{a} // {b} if {b} else {M}",
    "urem": "{a} % {b} if {b} else {M}",
    "sdiv": "sdiv({a}, {b}, {W})",
    "srem": "srem({a}, {b}, {W})",
    # Shifts clamp the amount to the width (PTX ISA, shl and shr).
    "shl": "{a} << {b} & {M} if {b} < {W} else 0",
    "lshr": "{a} >> {b} if {b} < {W} else 0",
    "ashr": "({a} ^ {S}) - {S} >> ({b} if {b} < {W} else {W}) & {M}",
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "xor": "{a} ^ {b}",
}

ICMP = {
    "eq": "{a} == {b}",
    "ne": "{a} != {b}",
    "ult": "{a} < {b}",
    "ule": "{a} <= {b}",
    "ugt": "{a} > {b}",
    "uge": "{a} >= {b}",
    # With the sign bit flipped, unsigned order is signed order.
    "slt": "{a} ^ {S} < {b} ^ {S}",
    "sle": "{a} ^ {S} <= {b} ^ {S}",
    "sgt": "{a} ^ {S} > {b} ^ {S}",
    "sge": "{a} ^ {S} >= {b} ^ {S}",
}

# -- floating point ----------------------------------------------------------------------------------------------------

FLOAT = {
    "fadd": "{a} + {b}",
    "fsub": "{a} - {b}",
    "fmul": "{a} * {b}",
    "fdiv": "{a} / {b} if {b} else quotient({a}, {b})",
    "frem": "remainder({a}, {b})",
}
"""In double; the result is then rounded to the format."""

FCMP = {
    "false": "0",
    "true": "1",
    "oeq": "{a} == {b}",
    "ogt": "{a} > {b}",
    "oge": "{a} >= {b}",
    "olt": "{a} < {b}",
    "ole": "{a} <= {b}",
    "one": "{a} < {b} or {a} > {b}",
    "ord": "{a} == {a} and {b} == {b}",
    "ueq": "not ({a} < {b} or {a} > {b})",
    "ugt": "not {a} <= {b}",
    "uge": "not {a} < {b}",
    "ult": "not {a} >= {b}",
    "ule": "not {a} > {b}",
    "une": "{a} != {b}",
    "uno": "{a} != {a} or {b} != {b}",
}

# -- casts -------------------------------------------------------------------------------------------------------------

CASTS = {
    "trunc": "{a} & {m}",
    "zext": "{a}",
    "sext": "({a} ^ {S}) - {S} & {m}",
    "fptrunc": "{a} * 1.0",
    "fpext": "{a} * 1.0",  # a NaN loses its payload, a zero keeps its sign
    "uitofp": "{a}",
    "sitofp": "({a} ^ {S}) - {S}",
    "ptrtoint": "{a} & {m}",
    "ptrtoaddr": "{a} & {m}",
    "inttoptr": "{a} & {m}",
}
"""``fptoui``, ``fptosi``, ``bitcast`` and ``addrspacecast`` depend on more than widths: see ``cast_template``."""


def cast_template(opcode: str, source: Type, target: Type) -> str | None:
    """The template of a scalar cast, None for one of the others."""
    if opcode in ("fptoui", "fptosi"):
        assert isinstance(source, FloatType) and isinstance(target, IntType)
        return float_to_integer(source, target, opcode == "fptosi")
    if opcode in ("uitofp", "sitofp"):
        # Beyond 53 bits the detour through double would round twice.
        assert isinstance(source, IntType) and isinstance(target, FloatType)
        exact = source.bits <= 53 or target.kind == "double"
        value = CASTS[opcode]
        return f"float({value})" if exact else f"from_integer({value}, {target.kind.upper()}_FORMAT)"
    return CASTS.get(opcode)


def float_to_integer(source: FloatType, target: IntType, is_signed: bool) -> str:
    """``cvt.rzi``: truncates and clamps. Types narrower than 16 bits are converted to 16 and cut.

    NaN gives 0, but 1 << (bits - 1) when the source is double or the target has 64 bits (PTX ISA, ``cvt``).
    """
    bits = max(target.bits, 16)
    nan = 1 << (bits - 1) if source.kind == "double" or bits >= 64 else 0
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (-1.0, 2.0**bits)
    mask = (1 << target.bits) - 1
    return (
        f"(int({{a}}) if {low!r} < {{a}} < {high!r} else to_integer({{a}}, {bits}, {is_signed}, 'rz', {nan})) & {mask}"
    )


def widths(type: Type, prefix: str) -> dict[str, str]:
    """The fields of a template that describe a type: width, sign bit and mask, in capitals or not."""
    if isinstance(type, IntType):
        bits = type.bits
    elif isinstance(type, PointerType):
        bits = 64
    else:
        return {}
    names = ("W", "S", "M") if prefix == "A" else ("w", "s", "m")
    return dict(zip(names, (str(bits), str(1 << (bits - 1)), str((1 << bits) - 1)), strict=True))


# -- helpers that templates call ---------------------------------------------------------------------------------------


def sdiv(a: int, b: int, bits: int) -> int:
    """Truncating division; the smallest number divided by -1 is itself, a zero divisor gives all ones."""
    mask = (1 << bits) - 1
    if not b:
        return mask
    x, y = signed(a, bits), signed(b, bits)
    size = abs(x) // abs(y)
    return (size if (x < 0) == (y < 0) else -size) & mask


def srem(a: int, b: int, bits: int) -> int:
    """What truncating division leaves, with the sign of the dividend; a zero divisor gives all ones."""
    mask = (1 << bits) - 1
    if not b:
        return mask
    x = signed(a, bits)
    size = abs(x) % abs(signed(b, bits))
    return (size if x >= 0 else -size) & mask


def negate(x: float, bits: Callable[[float], int], from_bits: Callable[[int], float], width: int) -> float:
    """``fneg`` of a NaN: flips the sign bit and nothing else."""
    return from_bits(bits(x) ^ 1 << (width - 1))


ROUNDER = {"half": "round_half", "bfloat": "round_bfloat", "float": "round_single"}
"""The helper that rounds a double to the format."""

HELPERS: dict[str, Any] = {
    "sdiv": sdiv,
    "srem": srem,
    "quotient": num.quotient,
    "remainder": num.remainder,
    "to_integer": num.to_integer,
    "from_integer": num.from_integer,
    "round_half": num.round_half,
    "round_bfloat": num.round_bfloat,
    "round_single": num.round_single,
    "fused_single": num.fused_single,
    "fused_double": num.fused_double,
    "fused": num.fused,
    "flush": num.flush,
    "single_bits": num.single_bits,
    "single_from_bits": num.single_from_bits,
    "double_bits": num.double_bits,
    "double_from_bits": num.double_from_bits,
    "half_bits": num.half_bits,
    "bfloat_bits": num.bfloat_bits,
    "half_from_bits": num.HALF_VALUES.__getitem__,
    "bfloat_from_bits": num.bfloat_from_bits,
    "float_bits": num.single_bits,
    "float_from_bits": num.single_from_bits,
    "HALF_FORMAT": num.HALF,
    "BFLOAT_FORMAT": num.BFLOAT,
    "FLOAT_FORMAT": num.SINGLE,
    "DOUBLE_FORMAT": num.DOUBLE,
    "INF": num.INF,
    "NAN": num.NAN,
    "F32": num.F32,
}
