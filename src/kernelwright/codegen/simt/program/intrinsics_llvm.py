"""LLVM's own intrinsics, by name without ``llvm.`` and types."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.codegen.simt.emission.row_functions import LIBRARY
from kernelwright.codegen.simt.program.flattening_context import Row
from kernelwright.codegen.simt.program.intrinsic_meanings import (
    Meaning,
    Several,
    absolute,
    direct,
    library,
    single,
)
from kernelwright.codegen.simt.program.operation_builder import Make
from kernelwright.codegen.simt.program.program import Const, Operand, bits_of
from kernelwright.errors import CompileError


def _letter(type: str) -> str:
    return "d" if type == "double" else "f"


def _three_way(above: str, below: str) -> Meaning:
    return lambda m, a, t: m.sub(m.zext(m.icmp(above, a[0], a[1]), t), m.zext(m.icmp(below, a[0], a[1]), t))


def _shift_saturating(name: str) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        bits = bits_of(t)
        near = m.icmp("ult", a[1], bits)
        safe = m.select(near, a[1], m.i(t, bits - 1))
        once = m.llvm(name, a[0], safe)
        return m.select(near, once, m.llvm(name, once, m.i(t, bits - 1)))

    return write


def _fma(m: Make, a: Row, t: str) -> Operand:
    return m.fop("fma", *a)


def _canonical(m: Make, a: Row, t: str) -> Operand:
    return m.fop("fmul", a[0], m.f(t, 1.0))


def _copysign(m: Make, a: Row, t: str) -> Operand:
    size = m.and_(m.bits(a[0]), m.magnitude_mask(t))
    sign = m.and_(m.bits(a[1]), ~m.magnitude_mask(t))
    return m.bitcast(m.or_(size, sign), t)


def _ldexp(m: Make, a: Row, t: str) -> Operand:
    exponent = m.cast("trunc" if bits_of(a[1].type) > 32 else "sext", a[1], "i32")
    if t in ("half", "bfloat"):
        return m.cast("fptrunc", m.row("ldexp_d", m.cast("fpext", a[0], "double"), exponent), t)
    return m.row(f"ldexp_{_letter(t)}", a[0], exponent)


def _powi(m: Make, a: Row, t: str) -> Operand:
    return library("pow")(m, [a[0], m.flat.emit("sitofp", (a[1],), t)], t)


def _round_to_integer(mode: str) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        whole = m.in_single(mode, a[0])
        result = m.flat.emit("fptosi.sat", (whole,), t)
        return m.select(m.nan_of(a[0]), m.i(t, 1 << (bits_of(t) - 1)), result)

    return write


def _class(m: Make, a: Row, t: str) -> Operand:
    value, kinds = a[0], a[1]
    if not isinstance(kinds, Const):
        raise CompileError("'llvm.is.fpclass' with a variable mask does not run on the virtual GPU")
    if value.type == "bfloat":
        value = m.cast("fpext", value, "float")
    return m.flat.emit("fpclass", (value,), "i1", kinds.value)


def _overflow(sign: str, op: str) -> Several:
    def write(m: Make, a: Row, types: tuple[str, ...]) -> Row:
        half = len(a) // 2
        results: Row = []
        flags: Row = []
        for x, y in zip(a[:half], a[half:], strict=True):
            value, flag = _OVERFLOWS[sign + op](m, x, y)
            results.append(value)
            flags.append(flag)
        return results + flags

    return write


def _uadd_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    total = m.add(x, y)
    return total, m.icmp("ult", total, x)


def _usub_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    return m.sub(x, y), m.icmp("ult", x, y)


def _sadd_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    total = m.add(x, y)
    return total, m.icmp("slt", m.and_(m.xor(x, total), m.xor(y, total)), 0)


def _ssub_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    total = m.sub(x, y)
    return total, m.icmp("slt", m.and_(m.xor(x, y), m.xor(x, total)), 0)


def _umul_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    bits = bits_of(x.type)
    wide = f"i{2 * bits}"
    if bits > 64:
        raise CompileError("multiplying 128-bit integers with overflow does not run on the virtual GPU")
    product = m.mul(m.zext(x, wide), m.zext(y, wide))
    return m.trunc(product, x.type), m.icmp("ne", m.lshr(product, bits), 0)


def _smul_overflow(m: Make, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    bits = bits_of(x.type)
    wide = f"i{2 * bits}"
    if bits > 64:
        raise CompileError("multiplying 128-bit integers with overflow does not run on the virtual GPU")
    product = m.mul(m.sext(x, wide), m.sext(y, wide))
    low = m.trunc(product, x.type)
    return low, m.icmp("ne", m.sext(low, wide), product)


_OVERFLOWS: dict[str, Callable[[Make, Operand, Operand], tuple[Operand, Operand]]] = {
    "uadd": _uadd_overflow, "usub": _usub_overflow, "umul": _umul_overflow,
    "sadd": _sadd_overflow, "ssub": _ssub_overflow, "smul": _smul_overflow,
}  # fmt: skip


def _frexp(m: Make, a: Row, types: tuple[str, ...]) -> Row:
    letter = _letter(a[0].type)
    exponent: Operand = m.row(f"frexp_exponent_{letter}", a[0], type="i32")
    if types[1] != "i32":
        exponent = m.cast("trunc" if bits_of(types[1]) < 32 else "sext", exponent, types[1])
    return [m.row(f"frexp_{letter}", a[0]), exponent]


def _modf(m: Make, a: Row, types: tuple[str, ...]) -> Row:
    x = a[0]
    whole = m.in_single("trunc", x)
    rest = m.fop("fsub", x, whole)
    infinite = m.fcmp("oeq", absolute(m, [x], x.type), Const(x.type, "0x7FF0000000000000"))
    part = m.select(infinite, m.f(x.type, 0.0), rest)
    return [_copysign(m, [part, x], x.type), whole]


def _sincos(m: Make, a: Row, types: tuple[str, ...]) -> Row:
    half = len(types) // 2
    return [library(name)(m, [x], t) for name in ("sin", "cos") for x, t in zip(a, types[:half], strict=True)]


def _two(method: str, name: str) -> Meaning:
    """The operation of this name on two operands, made by a method of ``Make``."""

    def write(m: Make, a: Row, t: str) -> Operand:
        made: Operand = getattr(m, method)(name, a[0], a[1])
        return made

    return write


_REDUCE: dict[str, Meaning] = {
    **{n: _two("op", n) for n in ("add", "mul", "and", "or", "xor")},
    **{n: _two("llvm", n) for n in ("smax", "smin", "umax", "umin")},
    **{n: _two("fop", n) for n in ("fadd", "fmul")},
    "fmax": lambda m, a, t: m.maximum(a[0], a[1]),
    "fmin": lambda m, a, t: m.minimum(a[0], a[1]),
    "fmaximum": lambda m, a, t: m.in_single("maximum", a[0], a[1]),
    "fminimum": lambda m, a, t: m.in_single("minimum", a[0], a[1]),
}


def reduction(m: Make, name: str, rows: list[Row], type: str) -> Operand:
    """From the first element to the last, starting with the scalar operand where there is one.
    Raises ``CompileError`` for an operation that the virtual GPU does not run."""
    combine = _REDUCE.get(name)
    if combine is None:
        raise CompileError(f"'llvm.vector.reduce.{name}' does not run on the virtual GPU")
    values = [o for r in rows for o in r]
    total = values[0]
    for value in values[1:]:
        total = combine(m, [total, value], type)
    return total


TABLE: dict[str, Meaning] = {
    **{n: direct(n, 2) for n in ("smax", "smin", "umax", "umin", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat")},
    **{n: direct(n, 1) for n in ("ctpop", "bswap", "bitreverse")},
    **{n: direct(n, 1, "i1 false") for n in ("abs", "ctlz", "cttz")},
    "fshl": direct("fshl", 3),
    "fshr": direct("fshr", 3),
    "ushl.sat": _shift_saturating("ushl.sat"),
    "sshl.sat": _shift_saturating("sshl.sat"),
    "scmp": _three_way("sgt", "slt"),
    "ucmp": _three_way("ugt", "ult"),
    **{n: (lambda m, a, t: a[0]) for n in ("expect", "expect.with.probability", "ssa.copy", "arithmetic.fence",
                                           "launder.invariant.group", "strip.invariant.group", "threadlocal.address")},
    "is.constant": lambda m, a, t: m.i("i1", 0),
    "objectsize": lambda m, a, t: m.i(t, -1),
    "ptrmask": lambda m, a, t: m.and_(a[0], m.zext(a[1], "i64")),
    "fptosi.sat": lambda m, a, t: m.flat.emit("fptosi.sat", (a[0],), t),
    "fptoui.sat": lambda m, a, t: m.flat.emit("fptoui.sat", (a[0],), t),
    "lrint": _round_to_integer("rint"),
    "llrint": _round_to_integer("rint"),
    "lround": _round_to_integer("round"),
    "llround": _round_to_integer("round"),
    "is.fpclass": _class,
    "convert.to.fp16": lambda m, a, t: m.bitcast(m.cast("fptrunc", a[0], "half"), "i16"),
    "convert.from.fp16": lambda m, a, t: m.cast("fpext", m.bitcast(a[0], "half"), t),
    "sqrt": single("sqrt", 1),
    "fma": _fma,
    "fmuladd": _fma,
    "fabs": absolute,
    "copysign": _copysign,
    **{n: single(n, 1) for n in ("floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round")},
    "minnum": lambda m, a, t: m.minimum(a[0], a[1]),
    "maxnum": lambda m, a, t: m.maximum(a[0], a[1]),
    "minimumnum": lambda m, a, t: m.minimum(a[0], a[1]),
    "maximumnum": lambda m, a, t: m.maximum(a[0], a[1]),
    "minimum": single("minimum", 2),
    "maximum": single("maximum", 2),
    "canonicalize": _canonical,
    "ldexp": _ldexp,
    "powi": _powi,
    "pow": library("pow"),
    "atan2": library("atan2"),
    **{n: library(n) for n in LIBRARY},
}  # fmt: skip

SEVERAL: dict[str, Several] = {
    **{f"{s}{op}.with.overflow": _overflow(s, op) for s in "us" for op in ("add", "sub", "mul")},
    "frexp": _frexp,
    "modf": _modf,
    "sincos": _sincos,
}
