"""NVIDIA's intrinsics, by name without ``llvm.nvvm.`` and types: what PTX says of the instruction each stands for."""

from __future__ import annotations

from kernelwright.codegen.simt.program.flattening_context import Row
from kernelwright.codegen.simt.program.intrinsic_meanings import Meaning, Several, absolute, library, single
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, SHARED_BASE
from kernelwright.codegen.simt.program.operation_builder import Make
from kernelwright.codegen.simt.program.program import ROUNDED, Operand, bits_of

WINDOW = 1 << 40

# -- rounding, flushing, saturating ------------------------------------------------------------------------------

_FORMATS = {"f": "float", "d": "double", "f16": "half", "f16x2": "half", "bf16": "bfloat", "bf16x2": "bfloat"}
_NEAREST: dict[str, Meaning] = {
    "add": lambda m, a, t: m.fop("fadd", *a),
    "mul": lambda m, a, t: m.fop("fmul", *a),
    "div": lambda m, a, t: m.flat.emit("fdiv", (a[0], a[1]), a[0].type, ROUNDED if a[0].type == "float" else None),
    "fma": lambda m, a, t: m.fop("fma", *a),
    "sqrt": lambda m, a, t: m.in_single("sqrt", *a),
    "rcp": lambda m, a, t: m.fop("fdiv", m.f(t, 1.0), *a),
}
_ARITY = {"add": 2, "mul": 2, "div": 2, "fma": 3, "sqrt": 1, "rcp": 1}


def _flagged(inner: Meaning, ftz: bool, sat: bool, count: int) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        args = [m.flush(x) if ftz else x for x in a[:count]]
        result = inner(m, args, t)
        result = m.flush(result) if ftz else result
        return m.saturate(result) if sat else result

    return write


def _relu(inner: Meaning) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        result = inner(m, a, t)
        keep = m.fcmp("ugt", result, m.f(t, 0.0))
        return m.select(keep, result, m.f(t, 0.0))

    return write


def _directed(name: str, mode: str, letter: str) -> Meaning:
    return lambda m, a, t: m.row(f"{name}_{letter}_{mode}", *a)


def _rounded() -> dict[str, Meaning]:
    """``add.rz.ftz.sat.f`` and its relatives."""
    table: dict[str, Meaning] = {}
    for name, count in _ARITY.items():
        for letter in "fd":
            for mode in ("rn", "rz", "rm", "rp"):
                inner = _NEAREST[name] if mode == "rn" else _directed(name, mode, letter)
                for ftz in (False, True):
                    for sat in (False, True):
                        key = f"{name}.{mode}{'.ftz' * ftz}{'.sat' * sat}.{letter}"
                        table[key] = _flagged(inner, ftz, sat, count)
    for suffix in ("f16", "f16x2", "bf16", "bf16x2"):
        for ftz in (False, True):
            plain = _flagged(_NEAREST["fma"], ftz, False, 3)
            table[f"fma.rn{'.ftz' * ftz}.{suffix}"] = plain
            table[f"fma.rn{'.ftz' * ftz}.sat.{suffix}"] = _flagged(_NEAREST["fma"], ftz, True, 3)
            table[f"fma.rn{'.ftz' * ftz}.relu.{suffix}"] = _relu(plain)
    return table


def _extreme(name: str, ftz: bool, nan: bool, xorsign: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        x, y = (m.flush(v) if ftz else v for v in a[:2])
        sign: Operand | None = None
        if xorsign:
            sign = m.and_(m.xor(m.bits(x), m.bits(y)), ~m.magnitude_mask(t))
            x, y = absolute(m, [x], t), absolute(m, [y], t)
        result = m.minimum(x, y) if name == "fmin" else m.maximum(x, y)
        if nan:
            result = m.select(m.fcmp("uno", x, y), m.fop("fadd", x, y), result)
        if sign is not None:
            size = m.and_(m.bits(result), m.magnitude_mask(t))
            result = m.bitcast(m.or_(size, sign), t)
        return result

    return write


def _extremes() -> dict[str, Meaning]:
    """``fmin.ftz.nan.xorsign.abs.f16x2`` and its relatives."""
    table: dict[str, Meaning] = {}
    for name in ("fmin", "fmax"):
        for suffix in _FORMATS:
            for ftz in (False, True):
                for nan in (False, True):
                    for xorsign in (False, True):
                        key = f"{name}{'.ftz' * ftz}{'.nan' * nan}{'.xorsign.abs' * xorsign}.{suffix}"
                        table[key] = _extreme(name, ftz, nan, xorsign)
    return table


_INTEGRAL = {"rn": "rint", "rz": "trunc", "rm": "floor", "rp": "ceil"}


def _to_integer(mode: str, signed: bool, ftz: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        value = m.flush(a[0]) if ftz and a[0].type == "float" else a[0]
        whole = value if mode == "rz" else m.llvm(_INTEGRAL[mode], value)
        return m.flat.emit("fptosi" if signed else "fptoui", (whole,), t)

    return write


def _from_integer(word: str, letter: str, mode: str, signed: bool) -> Meaning:
    exact = letter == "d" and word in ("i", "ui")
    if mode == "rn" or exact:
        return lambda m, a, t: m.flat.emit("sitofp" if signed else "uitofp", (a[0],), t)
    return lambda m, a, t: m.row(f"{word}2{letter}_{mode}", a[0], type=t)


def _narrowed(mode: str, ftz: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        result = m.cast("fptrunc", a[0], "float") if mode == "rn" else m.row(f"d2f_{mode}", a[0], type="float")
        return m.flush(result) if ftz else result

    return write


def _to_narrow(type: str, mode: str) -> Meaning:
    """``float`` to a 16-bit format, to nearest or towards zero."""

    def write(m: Make, a: Row, t: str) -> Operand:
        nearest = m.cast("fptrunc", a[0], type)
        if mode == "rn":
            return nearest
        # Towards zero: one step back where rounding went away from it.
        back = m.cast("fpext", nearest, "float")
        beyond = m.fcmp("ogt", absolute(m, [back], "float"), absolute(m, [a[0]], "float"))
        word = m.bits(nearest)
        return m.bitcast(m.select(beyond, m.sub(word, 1), word), type)

    return write


def _conversions() -> dict[str, Meaning]:
    """``f2i.rz.ftz``, ``ull2d.rn``, ``d2f.rp`` and their relatives."""
    table: dict[str, Meaning] = {}
    for mode in ("rn", "rz", "rm", "rp"):
        for word, signed in (("i", True), ("ui", False), ("ll", True), ("ull", False)):
            for letter in "fd":
                for ftz in (False, True):
                    table[f"{letter}2{word}.{mode}{'.ftz' * ftz}"] = _to_integer(mode, signed, ftz)
                table[f"{word}2{letter}.{mode}"] = _from_integer(word, letter, mode, signed)
        table[f"d2f.{mode}"] = _narrowed(mode, False)
        table[f"d2f.{mode}.ftz"] = _narrowed(mode, True)
    for mode in ("rn", "rz"):
        for name, type in (("f16", "half"), ("bf16", "bfloat")):
            table[f"f2{name}.{mode}"] = _to_narrow(type, mode)
            table[f"f2{name}.{mode}.relu"] = _relu(_to_narrow(type, mode))
    return table


def _pair(type: str, mode: str, relu: bool) -> Several:
    """``ff2f16x2``: the first operand is the upper half."""
    one = _relu(_to_narrow(type, mode)) if relu else _to_narrow(type, mode)
    return lambda m, a, types: [one(m, [a[1]], type), one(m, [a[0]], type)]


# -- approximate functions ---------------------------------------------------------------------------------------


def _flushed(inner: Meaning) -> Meaning:
    return lambda m, a, t: m.flush(inner(m, [m.flush(x) for x in a], t))


def _upper(inner: Meaning) -> Meaning:
    """The double forms give the upper 32 bits of the result only (PTX ISA, ``rcp.approx.ftz.f64``)."""

    def write(m: Make, a: Row, t: str) -> Operand:
        result = inner(m, [m.flush(a[0])], t)
        cut = m.bitcast(m.and_(m.bits(result), -(1 << 32)), t)
        return m.select(m.nan_of(result), result, cut)

    return write


def _quotient(m: Make, a: Row, t: str) -> Operand:
    return m.fop("fdiv", *a)


def _approximate() -> dict[str, Meaning]:
    def by_row(name: str) -> Meaning:
        return lambda m, a, t: m.row(f"{name}_approx", a[0])

    usual: dict[str, Meaning] = {
        **{n: by_row(n) for n in ("sin", "cos", "lg2", "ex2", "tanh", "rsqrt")},
        "sqrt": lambda m, a, t: m.llvm("sqrt", a[0]),
        "rcp": lambda m, a, t: m.fop("fdiv", m.f(t, 1.0), a[0]),
    }
    double: dict[str, Meaning] = {
        **{n: library(n) for n in ("sin", "cos", "tanh")},
        "lg2": library("log2"),
        "ex2": library("exp2"),
        "rsqrt": lambda m, a, t: m.row("rsqrt_approx_d", a[0]),
        "sqrt": usual["sqrt"],
        "rcp": usual["rcp"],
    }
    table: dict[str, Meaning] = {}
    for name, meaning_ in usual.items():
        table[f"{name}.approx.f"] = table[f"{name}.approx"] = meaning_
        table[f"{name}.approx.ftz.f"] = table[f"{name}.approx.ftz"] = _flushed(meaning_)
        table[f"{name}.approx.d"] = double[name]
    table["rcp.approx.ftz.d"] = _upper(usual["rcp"])
    table["rsqrt.approx.ftz.d"] = _upper(double["rsqrt"])
    for name in ("div.approx", "div.full"):
        table[name] = table[f"{name}.f"] = _quotient
        table[f"{name}.ftz"] = table[f"{name}.ftz.f"] = _flushed(_quotient)
    table["sqrt.f"] = usual["sqrt"]
    for name, inner in (("floor", "floor"), ("ceil", "ceil"), ("trunc", "trunc"), ("round", "rint")):
        table[f"{name}.f"] = table[f"{name}.d"] = single(inner, 1)
        table[f"{name}.ftz.f"] = lambda m, a, t, n=inner: m.llvm(n, m.flush(a[0]))  # type: ignore[misc]
    return table


# -- integers ----------------------------------------------------------------------------------------------------


def _high_product(signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        bits = bits_of(t)
        wide = f"i{2 * bits}"
        extend = m.sext if signed else m.zext
        return m.trunc(m.lshr(m.mul(extend(a[0], wide), extend(a[1], wide)), bits), t)

    return write


def _product24(signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        if not signed:
            return m.mul(m.and_(a[0], 0xFFFFFF), m.and_(a[1], 0xFFFFFF))
        x, y = (m.ashr(m.shl(v, 8), 8) for v in a)
        return m.mul(x, y)

    return write


def _sad(signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        above = m.icmp("sgt" if signed else "ugt", a[0], a[1])
        return m.add(m.select(above, m.sub(a[0], a[1]), m.sub(a[1], a[0])), a[2])

    return write


# Which bytes each mode of prmt picks, by the two low bits of the selector (PTX ISA, prmt, table of modes).
_PERMUTE_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _permute_mode(mode: str) -> Meaning:
    picks = _PERMUTE_MODES[mode]

    def write(m: Make, a: Row, t: str) -> Operand:
        x, y, selector = (a[0], a[1], a[2]) if mode in ("f4e", "b4e") else (a[0], m.i(t, 0), a[1])
        low = m.and_(selector, 3)
        chosen: Operand = m.i(t, picks[3])
        for i in (2, 1, 0):
            chosen = m.select(m.icmp("eq", low, i), m.i(t, picks[i]), chosen)
        return m.row("prmt", x, y, chosen)

    return write


def _funnel_clamped(left: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        both = m.or_(m.shl(m.zext(a[0], "i64"), 32), m.zext(a[1], "i64"))
        amount = m.zext(m.llvm("umin", a[2], m.i("i32", 32)), "i64")
        return m.trunc(m.lshr(m.shl(both, amount), 32) if left else m.lshr(both, amount), "i32")

    return write


def _find_leading(signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        x = a[0]
        bits = bits_of(x.type)
        if signed:
            x = m.xor(x, m.ashr(x, bits - 1))
        zeros = m.llvm("ctlz", x, extra="i1 false")
        position = m.sub(m.i(x.type, bits - 1), zeros)
        found = (
            m.select(a[1], zeros, position) if a[1].type == "i1" else m.select(m.icmp("ne", a[1], 0), zeros, position)
        )
        result = m.select(m.icmp("eq", x, 0), m.i(x.type, -1), found)
        return m.trunc(result, t) if bits > bits_of(t) else result

    return write


def _bit_mask(wrap: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        limited = (m.and_(v, 31) if wrap else m.llvm("umin", v, m.i("i32", 32)) for v in a)
        start, count = (m.zext(v, "i64") for v in limited)
        ones = m.sub(m.shl(m.i("i64", 1), count), 1)
        return m.trunc(m.shl(ones, start), "i32")

    return write


def _extend_low(signed: bool, wrap: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        width = m.and_(a[1], 31) if wrap else m.llvm("umin", a[1], m.i("i32", 32))
        spare = m.sub(m.i("i32", 32), width)
        high = m.shl(a[0], spare)
        return m.ashr(high, spare) if signed else m.lshr(high, spare)

    return write


def _dot4(a_signed: bool, b_signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        total = a[2]
        for i in range(4):
            total = m.add(total, m.mul(_piece(m, a[0], 8, i, a_signed), _piece(m, a[1], 8, i, b_signed)))
        return total

    return write


def _dot2(a_signed: bool, b_signed: bool) -> Meaning:
    def write(m: Make, a: Row, t: str) -> Operand:
        high, total = a[2], a[3]
        flag = high if high.type == "i1" else m.icmp("ne", high, 0)
        for i in range(2):
            byte = m.select(flag, _piece(m, a[1], 8, i + 2, b_signed), _piece(m, a[1], 8, i, b_signed))
            total = m.add(total, m.mul(_piece(m, a[0], 16, i, a_signed), byte))
        return total

    return write


def _piece(m: Make, word: Operand, bits: int, i: int, signed: bool) -> Operand:
    high = m.shl(word, 32 - bits * (i + 1))
    return m.ashr(high, 32 - bits) if signed else m.lshr(high, 32 - bits)


def _in_window(base: int) -> Meaning:
    return lambda m, a, t: m.icmp("ult", m.sub(a[0], base), WINDOW)


def _in_global(m: Make, a: Row, t: str) -> Operand:
    """Neither of the windows. Constant memory is part of global memory here."""
    return m.icmp("uge", m.sub(a[0], SHARED_BASE), LOCAL_BASE - SHARED_BASE + WINDOW)


def lane_mask(kind: str) -> Meaning:
    """Means a register of lane masks: ``eq``, ``lt``, ``le``, ``gt``, ``ge``."""

    def write(m: Make, a: Row, t: str) -> Operand:
        one = m.shl(m.i("i32", 1), a[0])
        if kind == "eq":
            return one
        below = m.sub(one, 1)
        if kind == "lt":
            return below
        if kind == "le":
            return m.or_(below, one)
        return m.xor(m.or_(below, one) if kind == "gt" else below, -1)

    return write


_INTEGERS: dict[str, Meaning] = {
    "mulhi.i": _high_product(True),
    "mulhi.ui": _high_product(False),
    "mulhi.s": _high_product(True),
    "mulhi.us": _high_product(False),
    "mulhi.ll": lambda m, a, t: m.row("mulhi_ll", *a),
    "mulhi.ull": lambda m, a, t: m.row("mulhi_ull", *a),
    "mul24.i": _product24(True),
    "mul24.ui": _product24(False),
    **{f"sad.{s}": _sad(True) for s in ("s", "i", "ll")},
    **{f"sad.{s}": _sad(False) for s in ("us", "ui", "ull")},
    "prmt": lambda m, a, t: m.row("prmt", *a),
    **{f"prmt.{mode}": _permute_mode(mode) for mode in _PERMUTE_MODES},
    "fshl.clamp": _funnel_clamped(True),
    "fshr.clamp": _funnel_clamped(False),
    "fns": lambda m, a, t: m.row("fns", *a),
    "flo.u": _find_leading(False),
    "flo.s": _find_leading(True),
    "bmsk.clamp": _bit_mask(False),
    "bmsk.wrap": _bit_mask(True),
    **{f"{s}ext.{w}": _extend_low(s == "s", w == "wrap") for s in "sz" for w in ("clamp", "wrap")},
    **{f"idp4a.{s}.{t}": _dot4(s == "s", t == "s") for s in "su" for t in "su"},
    **{f"idp2a.{s}.{t}": _dot2(s == "s", t == "s") for s in "su" for t in "su"},
    "d2i.lo": lambda m, a, t: m.trunc(m.bits(a[0]), "i32"),
    "d2i.hi": lambda m, a, t: m.trunc(m.lshr(m.bits(a[0]), 32), "i32"),
    "lohi.i2d": lambda m, a, t: m.bitcast(m.or_(m.shl(m.zext(a[1], "i64"), 32), m.zext(a[0], "i64")), "double"),
    "f2h.rn": lambda m, a, t: m.bitcast(m.cast("fptrunc", a[0], "half"), "i16"),
    "f2h.rn.ftz": lambda m, a, t: m.bitcast(m.cast("fptrunc", m.flush(a[0]), "half"), "i16"),
    "fabs": absolute,
    "fabs.f": absolute,
    "fabs.d": absolute,
    "fabs.ftz": lambda m, a, t: absolute(m, [m.flush(a[0])], t),
    "fabs.ftz.f": lambda m, a, t: absolute(m, [m.flush(a[0])], t),
    "neg.bf16": lambda m, a, t: m.fop("fneg", a[0]),
    "neg.bf16x2": lambda m, a, t: m.fop("fneg", a[0]),
    "saturate.f": lambda m, a, t: m.saturate(a[0]),
    "saturate.d": lambda m, a, t: m.saturate(a[0]),
    "saturate.ftz.f": lambda m, a, t: m.saturate(m.flush(a[0])),
    "isspacep.shared": _in_window(SHARED_BASE),
    "isspacep.shared.cluster": _in_window(SHARED_BASE),
    "isspacep.local": _in_window(LOCAL_BASE),
    "isspacep.global": _in_global,
    "isspacep.const": lambda m, a, t: m.i("i1", 0),
    **{f"move.{s}": (lambda m, a, t: a[0]) for s in ("i16", "i32", "i64", "float", "double", "ptr")},
    "internal.addrspace.wrap": lambda m, a, t: a[0],
    "is_explicit_cluster": lambda m, a, t: m.i("i1", 0),
}  # fmt: skip

TABLE: dict[str, Meaning] = {**_rounded(), **_extremes(), **_conversions(), **_approximate(), **_INTEGERS}

SEVERAL: dict[str, Several] = {
    f"ff2{name}x2.{mode}{'.relu' * relu}": _pair(type, mode, relu)
    for name, type in (("f16", "half"), ("bf16", "bfloat"))
    for mode in ("rn", "rz")
    for relu in (False, True)
}
