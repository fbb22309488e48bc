"""NVVM intrinsics by family, every member: each modifier against an oracle that applies it to exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelwright.device.reference.intrinsics import TEMPLATES
from tests.device.ir_kernels import Array, bfloat, evaluate, floats, integers, pairs, run, same
from tests.device.ir_kernels import kernel as make_kernel
from tests.device.test_numbers import LIBM, rounding
from tests.device.test_reference_ops import to_bfloat, to_signed, wrap

COVERED: set[str] = set()
"""Names of NVVM intrinsics that a test of this file runs; the last test compares it with the table."""

FLOAT_TYPES = {"f": "float", "d": "double"}
HALF_TYPES = {"f16": "half", "bf16": "bfloat", "f16x2": "<2 x half>", "bf16x2": "<2 x bfloat>"}
SMALLEST = {"float": 2.0**-126, "double": 2.0**-1022, "half": 2.0**-14, "bfloat": 2.0**-126}


def cover(name: str) -> str:
    COVERED.add(name)
    return name


def flags(*words: str) -> list[str]:
    """Every way of leaving words out, in order: ``["", ".ftz", ".sat", ".ftz.sat"]``."""
    return ["".join(c) for c in itertools.product(*(("", w) for w in words))]


def flush(x: Array, kind: str) -> Array:
    flushed: Array = np.where(np.abs(x) < SMALLEST[kind], np.copysign(0.0, x), x).astype(x.dtype)
    return flushed


def saturate(x: Array) -> Array:
    clamped: Array = np.where(x > 0, np.minimum(x, 1), 0).astype(x.dtype)
    return clamped


def scalar(type: str) -> str:
    return type.removeprefix("<2 x ").rstrip(">")


def inputs(type: str, count: int) -> list[Array]:
    """Arrays of a type's edge values, paired; vectors hold two of them side by side."""
    values = floats(scalar(type), 60)
    a, b = pairs(values)
    arrays = [a, b, np.resize(np.roll(values, 5), len(a))][:count]
    if "<" in type:
        even = len(a) // 2 * 2
        arrays = [x[:even].reshape(-1, 2) for x in arrays]
    return arrays


def numbers(type: str, x: Array) -> Array:
    """The values as NumPy calculates with them."""
    return bfloat(x) if scalar(type) == "bfloat" else x


def call(name: str, type: str, arrays: list[Array], result: str | None = None) -> Array:
    arguments = ", ".join(f"{type} %{n}" for n in "abc"[: len(arrays)])
    result = result or type
    return evaluate(f"  %r = call {result} @llvm.nvvm.{name}({arguments})", [type] * len(arrays), result, *arrays)


def check(name: str, type: str, arrays: list[Array], expected: Array) -> None:
    found = call(name, type, arrays)
    same(found, to_bfloat(expected) if scalar(type) == "bfloat" else expected)


# -- extremes ----------------------------------------------------------------------------------------------------------

EXTREMES = [
    (cover(f"{name}{ftz}{nan}{xor}.{suffix}"), type)
    for name in ("fmin", "fmax")
    for ftz, nan, xor in itertools.product(("", ".ftz"), ("", ".nan"), ("", ".xorsign.abs"))
    for suffix, type in {**FLOAT_TYPES, **HALF_TYPES}.items()
]


@pytest.mark.parametrize(("name", "type"), EXTREMES)
def test_extremes(name: str, type: str) -> None:
    arrays = inputs(type, 2)
    a, b = (numbers(type, x) for x in arrays)
    if ".ftz" in name:
        a, b = flush(a, scalar(type)), flush(b, scalar(type))
    sign = np.where(np.signbit(a) == np.signbit(b), 1.0, -1.0)
    x, y = (np.abs(a), np.abs(b)) if "xorsign" in name else (a, b)
    smaller = name.startswith("fmin")
    # Ordered by (value, sign), so that -0.0 comes before +0.0.
    first = np.where(x == y, np.signbit(x) if smaller else np.signbit(y), x < y if smaller else x > y)
    result = np.where(first, x, y)
    result = np.where(np.isnan(x), y, np.where(np.isnan(y), x, result))
    if ".nan" in name:
        result = np.where(np.isnan(x) | np.isnan(y), np.nan, result)
    if "xorsign" in name:
        result = np.copysign(result, sign)
    check(name, type, arrays, result.astype(a.dtype))


# -- fused and rounded -------------------------------------------------------------------------------------------------

FUSED = [
    (cover(f"fma.{mode}{flag}.{suffix}"), type)
    for mode in ("rn", "rz", "rm", "rp")
    for suffix, type in FLOAT_TYPES.items()
    for flag in flags(".ftz", ".sat")
]


@pytest.mark.parametrize(("name", "type"), FUSED)
def test_fused(name: str, type: str) -> None:
    arrays = inputs(type, 3)
    used = [flush(x, type) for x in arrays] if ".ftz" in name else arrays
    function = LIBM.fmaf if type == "float" else LIBM.fma
    with np.errstate(all="ignore"), rounding(name[4:6]):
        values = [function(*map(float, row)) for row in zip(*used, strict=True)]
    result = np.array(values, arrays[0].dtype)
    result = flush(result, type) if ".ftz" in name else result
    check(name, type, arrays, saturate(result) if ".sat" in name else result)


HALF_FUSED = [
    (cover(f"fma.rn{ftz}{last}.{suffix}"), type)
    for suffix, type in HALF_TYPES.items()
    for ftz in ("", ".ftz")
    for last in ("", ".sat", ".relu")
]


@pytest.mark.parametrize(("name", "type"), HALF_FUSED)
def test_fused_in_half_precision(name: str, type: str) -> None:
    """Small integers and their halves: every result is exact, so that only the modifiers are in question."""
    kind = scalar(type)
    values = np.array([0, -0.0, 1, -1, 0.5, -3, 2, np.nan, 2.0**-15 if kind == "half" else 2.0**-130], np.float32)
    a, b = pairs(np.resize(values, 40))
    c = np.resize(np.roll(values, 4), len(a)).astype(np.float32)
    even = len(a) // 2 * 2
    shape = (-1, 2) if "<" in type else (-1,)
    x, y, z = (v[:even].reshape(shape) for v in (a, b, c))
    arrays = [
        v.astype(np.float16) if kind == "half" else (v.view(np.uint32) >> 16).astype(np.uint16) for v in (x, y, z)
    ]
    used = [flush(v, kind) for v in (x, y, z)] if ".ftz" in name else [x, y, z]
    exact: Array = (used[0].astype(np.float64) * used[1] + used[2]).astype(np.float16 if kind == "half" else np.float32)
    exact = flush(exact, kind) if ".ftz" in name else exact
    if ".sat" in name:
        exact = saturate(exact)
    if ".relu" in name:
        exact = np.where(np.isnan(exact) | (exact > 0), exact, 0).astype(exact.dtype)
    check(name, type, arrays, exact)


BASIC = [
    (cover(f"{name}.{mode}{flag}.{suffix}"), type)
    for name in ("add", "mul", "div", "sqrt", "rcp")
    for mode in ("rn", "rz", "rm", "rp")
    for suffix, type in FLOAT_TYPES.items()
    for flag in flags(".ftz", ".sat")
]


@pytest.mark.parametrize(("name", "type"), BASIC)
def test_basic_arithmetic(name: str, type: str) -> None:
    word = name.split(".")[0]
    arrays = inputs(type, 1 if word in ("sqrt", "rcp") else 2)
    used = [flush(x, type) for x in arrays] if ".ftz" in name else arrays
    operations: dict[str, Callable[..., Array]] = {
        "add": np.add,
        "mul": np.multiply,
        "div": np.divide,
        "sqrt": np.sqrt,
        "rcp": lambda x: np.divide(x.dtype.type(1), x),
    }
    operation = operations[word]
    with np.errstate(all="ignore"), rounding(name.split(".")[1]):
        result = operation(*used)
    result = flush(result, type) if ".ftz" in name else result
    check(name, type, arrays, saturate(result) if ".sat" in name else result)


# -- one operand -------------------------------------------------------------------------------------------------------

ONE: dict[str, tuple[str, Callable[[Array], Array]]] = {
    **{f"{n}.{s}": (t, f) for n, f in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint))
       for s, t in FLOAT_TYPES.items()},
    **{f"{n}.ftz.f": ("float", lambda x, f=f: f(flush(x, "float")))  # type: ignore[misc]
       for n, f in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint))},
    "fabs.f": ("float", np.abs),
    "fabs.d": ("double", np.abs),
    "fabs.ftz.f": ("float", lambda x: np.abs(flush(x, "float"))),
    "fabs.f32": ("float", np.abs),
    "fabs.ftz.f32": ("float", lambda x: np.abs(flush(x, "float"))),
    "fabs.f16": ("half", np.abs),
    "neg.bf16": ("bfloat", lambda x: -x),
    "neg.bf16x2": ("<2 x bfloat>", lambda x: -x),
    "saturate.f": ("float", saturate),
    "saturate.d": ("double", saturate),
    "saturate.ftz.f": ("float", lambda x: saturate(flush(x, "float"))),
    "move.float": ("float", lambda x: x),
    "move.double": ("double", lambda x: x),
    "sqrt.f": ("float", np.sqrt),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str) -> None:
    type, oracle = ONE[name]
    arrays = inputs(type, 1)
    with np.errstate(all="ignore"):
        check(name, type, arrays, oracle(numbers(type, arrays[0])))


APPROXIMATE: dict[str, Callable[[Array], Array]] = {
    "sin": np.sin, "cos": np.cos, "lg2": np.log2, "ex2": np.exp2, "sqrt": np.sqrt, "rcp": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh,
}  # fmt: skip
APPROXIMATE_NAMES = [
    (cover(f"{n}.approx{ftz}{end}"), n, bool(ftz)) for n in APPROXIMATE for ftz in ("", ".ftz") for end in ("", ".f")
]


@pytest.mark.parametrize(("name", "word", "ftz"), APPROXIMATE_NAMES)
def test_approximations(name: str, word: str, ftz: bool) -> None:
    (a,) = inputs("float", 1)
    used = flush(a, "float") if ftz else a
    with np.errstate(all="ignore"):
        expected = APPROXIMATE[word](used.astype(np.float64)).astype(np.float32)
    expected = flush(expected, "float") if ftz else expected
    np.testing.assert_array_max_ulp(call(name, "float", [a]), expected, maxulp=1)


@pytest.mark.parametrize("word", APPROXIMATE)
def test_approximations_in_double(word: str) -> None:
    (a,) = inputs("double", 1)
    a = a[(np.abs(a) < 1e15) | ~np.isfinite(a)]
    with np.errstate(all="ignore"):
        expected = APPROXIMATE[word](a)
    found = call(cover(f"{word}.approx.d"), "double", [a])
    np.testing.assert_array_max_ulp(found, expected, maxulp=2)


def test_double_reciprocals_have_their_upper_half_only() -> None:
    (a,) = inputs("double", 1)
    used = flush(a, "double")
    with np.errstate(all="ignore"):
        for name, exact in (("rcp.approx.ftz.d", 1 / used), ("rsqrt.approx.ftz.d", 1 / np.sqrt(used))):
            found = call(cover(name), "double", [a])
            finite = np.isfinite(exact) & (exact != 0)
            assert (found[finite].view(np.uint64) & np.uint64(0xFFFFFFFF) == 0).all()
            np.testing.assert_allclose(found[finite], exact[finite], rtol=2.0**-20)
            same(found[~finite], exact[~finite])


@pytest.mark.parametrize(
    "name", [cover(f"div.{k}{ftz}{end}") for k in ("approx", "full") for ftz in ("", ".ftz") for end in ("", ".f")]
)
def test_approximate_division(name: str) -> None:
    a, b = inputs("float", 2)
    x, y = (flush(a, "float"), flush(b, "float")) if ".ftz" in name else (a, b)
    with np.errstate(all="ignore"):
        result = x / y
    same(call(name, "float", [a, b]), flush(result, "float") if ".ftz" in name else result)


# -- conversions -------------------------------------------------------------------------------------------------------

WORDS: dict[str, Any] = {"i": np.int32, "ui": np.uint32, "ll": np.int64, "ull": np.uint64}
ROUND = {"rn": np.rint, "rm": np.floor, "rp": np.ceil, "rz": np.trunc}


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("word", WORDS)
def test_flushed_float_to_integer(word: str, mode: str) -> None:
    """The plain forms are tested with the other conversions; here subnormal inputs must count as zero."""
    (a,) = inputs("float", 1)
    bits = np.iinfo(WORDS[word]).bits
    for letter, type in (("f", "float"), ("d", "double")):
        cover(f"{letter}2{word}.{mode}"), cover(f"{word}2{letter}.{mode}")
        plain = call(f"{letter}2{word}.{mode}", type, [flush(a, "float").astype(np.float64 if letter == "d" else np.float32)],
                     f"i{bits}")  # fmt: skip
        name = cover(f"{letter}2{word}.{mode}.ftz")
        if letter == "f":
            same(call(name, "float", [a], f"i{bits}"), plain)
    tiny = np.array([1e-40, -1e-40], np.float32)
    found = call(f"f2{word}.{mode}.ftz", "float", [tiny], f"i{bits}")
    assert found.tolist() == [0, 0]


@pytest.mark.parametrize("mode", ROUND)
def test_narrowing(mode: str) -> None:
    (a,) = inputs("double", 1)
    cover(f"d2f.{mode}")
    with np.errstate(all="ignore"), rounding(mode):
        narrow = a.astype(np.float32)
    same(call(cover(f"d2f.{mode}.ftz"), "double", [a], "float"), flush(narrow, "float"))


def in_mode(x: float, kind: str, mode: str) -> float:
    """A float32 in a half format: to nearest by NumPy or on bits, towards zero by stepping back where that went too far."""
    if kind == "half":
        near = np.float16(x)
        if mode == "rz" and abs(float(near)) > abs(x):
            near = np.nextafter(near, np.float16(0))
        return float(near)
    bits = int(np.float32(x).view(np.uint32))
    cut = bits & 0xFFFF0000
    if mode == "rn" and not math.isinf(x):
        rest = bits & 0xFFFF
        cut += 0x10000 * (rest > 0x8000 or (rest == 0x8000 and bool(cut & 0x10000)))
    return float(np.uint32(cut).view(np.float32))


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("mode", ["rn", "rz"])
@pytest.mark.parametrize(("name", "kind"), [("f16", "half"), ("bf16", "bfloat")])
def test_packing(name: str, kind: str, mode: str, relu: str) -> None:
    a, b = inputs("float", 2)
    finite = np.isfinite(a) & np.isfinite(b) & (np.abs(a) < 60000) & (np.abs(b) < 60000)
    a, b = a[finite], b[finite]

    def convert(x: Array) -> Array:
        values = np.array([in_mode(float(v), kind, mode) for v in x], np.float32)
        if relu:
            values = np.where(values > 0, values, 0).astype(np.float32)
        return values.astype(np.float16) if kind == "half" else (values.view(np.uint32) >> 16).astype(np.uint16)

    same(call(cover(f"f2{name}.{mode}{relu}"), "float", [a], kind), convert(a))
    two = call(cover(f"ff2{name}x2.{mode}{relu}"), "float", [a, b], f"<2 x {kind}>")
    same(two, np.stack([convert(b), convert(a)], 1))


def test_half_bits() -> None:
    (a,) = inputs("float", 1)
    with np.errstate(all="ignore"):
        expected = a.astype(np.float16).view(np.uint16)
        flushed = flush(a, "float").astype(np.float16).view(np.uint16)
    nan = np.isnan(a)
    for name, want in (("f2h.rn", expected), ("f2h.rn.ftz", flushed)):
        found = call(cover(name), "float", [a], "i16")
        assert (found[~nan] == want[~nan]).all() and (found[nan] == 0x7FFF).all()


# -- integers ----------------------------------------------------------------------------------------------------------


def spread(a: int, mode: str, c: int) -> int:
    """``prmt`` modes that take one register: which bytes of it the result repeats (PTX ISA, table of prmt modes)."""
    source, n = a.to_bytes(4, "little"), c & 3
    picks = {
        "rc8": [n] * 4, "ecl": [max(n, k) for k in range(4)], "ecr": [min(n, k) for k in range(4)],
        "rc16": [2 * (n & 1), 2 * (n & 1) + 1] * 2,
    }[mode]  # fmt: skip
    return int.from_bytes(bytes(source[p] for p in picks), "little")


def backwards(a: int, b: int, c: int) -> int:
    source, n = (b << 32 | a).to_bytes(8, "little"), c & 3
    return int.from_bytes(bytes(source[(n - k) % 8] for k in range(4)), "little")


def extended(a: int, width: int, sign: bool) -> int:
    if width == 0:
        return 0
    low = a & ((1 << width) - 1)
    return to_signed(low, width) if sign else low


def dot2(a: int, b: int, high: bool, sign_a: bool, sign_b: bool) -> int:
    x = np.frombuffer(a.to_bytes(4, "little"), np.int16 if sign_a else np.uint16).astype(int)
    y = np.frombuffer(b.to_bytes(4, "little"), np.int8 if sign_b else np.uint8).astype(int)[2 * high :][:2]
    return int((x * y).sum())


def dot4(a: int, b: int, sign_a: bool, sign_b: bool) -> int:
    x = np.frombuffer(a.to_bytes(4, "little"), np.int8 if sign_a else np.uint8).astype(int)
    y = np.frombuffer(b.to_bytes(4, "little"), np.int8 if sign_b else np.uint8).astype(int)
    return int((x * y).sum())


INTEGER: dict[str, tuple[str, int, Callable[..., int]]] = {
    "mulhi.s": ("i16", 2, lambda a, b: to_signed(a, 16) * to_signed(b, 16) >> 16),
    "mulhi.us": ("i16", 2, lambda a, b: a * b >> 16),
    "sad.s": ("i16", 3, lambda a, b, c: abs(to_signed(a, 16) - to_signed(b, 16)) + c),
    "sad.us": ("i16", 3, lambda a, b, c: abs(a - b) + c),
    "sad.ll": ("i64", 3, lambda a, b, c: abs(to_signed(a, 64) - to_signed(b, 64)) + c),
    "sad.ull": ("i64", 3, lambda a, b, c: abs(a - b) + c),
    "prmt.b4e": ("i32", 3, backwards),
    "prmt.rc8": ("i32", 2, lambda a, c: spread(a, "rc8", c)),
    "prmt.ecl": ("i32", 2, lambda a, c: spread(a, "ecl", c)),
    "prmt.ecr": ("i32", 2, lambda a, c: spread(a, "ecr", c)),
    "prmt.rc16": ("i32", 2, lambda a, c: spread(a, "rc16", c)),
    "fshl.clamp": ("i32", 3, lambda a, b, c: (a << 32 | b) << min(c, 32) >> 32),
    "fshr.clamp": ("i32", 3, lambda a, b, c: (a << 32 | b) >> min(c, 32)),
    "bmsk.clamp": ("i32", 2, lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32)),
    "bmsk.wrap": ("i32", 2, lambda a, b: ((1 << b % 32) - 1) << a % 32),
    "sext.clamp": ("i32", 2, lambda a, b: extended(a, min(b, 32), True)),
    "sext.wrap": ("i32", 2, lambda a, b: extended(a, b % 32, True)),
    "zext.clamp": ("i32", 2, lambda a, b: extended(a, min(b, 32), False)),
    "zext.wrap": ("i32", 2, lambda a, b: extended(a, b % 32, False)),
    "move.i16": ("i16", 1, lambda a: a),
    "move.i32": ("i32", 1, lambda a: a),
    "move.i64": ("i64", 1, lambda a: a),
    **{f"idp4a.{s}.{t}": ("i32", 3, lambda a, b, c, s=s, t=t: c + dot4(a, b, s == "s", t == "s")) for s in "su" for t in "su"},
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER)
def test_integers(name: str) -> None:
    type, count, oracle = INTEGER[name]
    bits = int(type[1:])
    a, b = pairs(integers(bits))
    arrays = [a, b, np.resize(integers(bits)[::-1], len(a))][:count]
    if "wrap" in name or "clamp" in name or "prmt" in name:
        arrays[-1] = (arrays[-1] % 70).astype(arrays[-1].dtype)
        if name.startswith("bmsk"):
            arrays[0] = arrays[0] % np.uint32(70)
    suffix = ".i32" if "shl" in name or "shr" in name else ""
    found = call(f"{name}{suffix}", type, arrays)
    same(found, wrap([oracle(*map(int, row)) for row in zip(*arrays, strict=True)], bits))


@pytest.mark.parametrize("signs", [("s", "s"), ("s", "u"), ("u", "s"), ("u", "u")])
@pytest.mark.parametrize("high", [False, True])
def test_two_way_dot_product(signs: tuple[str, str], high: bool) -> None:
    a, b = pairs(integers(32))
    d = np.resize(integers(32)[::-1], len(a))
    s, t = signs
    body = f"  %r = call i32 @llvm.nvvm.idp2a.{s}.{t}(i32 %a, i32 %b, i1 {str(high).lower()}, i32 %c)"
    found = evaluate(body, ["i32"] * 3, "i32", a, b, d)
    expected = [
        z + dot2(x, y, high, s == "s", t == "s") for x, y, z in zip(a.tolist(), b.tolist(), d.tolist(), strict=True)
    ]
    same(found, wrap(expected, 32))


@pytest.mark.parametrize("bits", [32, 64])
def test_find_leading(bits: int) -> None:
    a = integers(bits)
    for sign, shift in itertools.product("us", (False, True)):
        name = f"llvm.nvvm.flo.{sign}.i{bits}"
        found = evaluate(f"  %r = call i32 @{name}(i{bits} %a, i1 {str(shift).lower()})", [f"i{bits}"], "i32", a)
        expected = []
        for v in map(int, a):
            size = (v ^ ((1 << bits) - 1) if sign == "s" and v >> (bits - 1) else v).bit_length()
            expected.append(-1 if size == 0 else bits - size if shift else size - 1)
        same(found, wrap(expected, 32))


# -- special registers -------------------------------------------------------------------------------------------------


def per_thread(name: str, bits: int = 32) -> Array:
    body = f"  %r = call i{bits} @llvm.nvvm.read.ptx.sreg.{cover(f'read.ptx.sreg.{name}')[14:]}()"
    return run(make_kernel(body, ["i32"], f"i{bits}"), f"i{bits}", np.zeros(256, np.uint32))[0]


REGISTERS: dict[str, Any] = {
    "tid.x": lambda t, b: t, "tid.y": 0, "tid.z": 0, "tid.w": 0, "ntid.x": 128, "ntid.y": 1, "ntid.z": 1, "ntid.w": 1,
    "ctaid.x": lambda t, b: b, "ctaid.y": 0, "ctaid.z": 0, "ctaid.w": 0, "nctaid.x": 2, "nctaid.y": 1, "nctaid.z": 1,
    "nctaid.w": 1, "laneid": lambda t, b: t % 32, "warpid": lambda t, b: t // 32, "nwarpid": 4, "warpsize": 32,
    "smid": 0, "nsmid": 1, "gridid": 0, "dynamic_smem_size": 0, "total_smem_size": 0, "aggr_smem_size": 0,
    "lanemask.eq": lambda t, b: 1 << t % 32, "lanemask.lt": lambda t, b: (1 << t % 32) - 1,
    "lanemask.le": lambda t, b: (1 << (t % 32 + 1)) - 1, "lanemask.gt": lambda t, b: 2**32 - (1 << (t % 32 + 1)),
    "lanemask.ge": lambda t, b: 2**32 - (1 << t % 32), "cluster.ctarank": 0, "cluster.nctarank": 1,
    **{f"cluster.ctaid.{x}": 0 for x in "xyzw"}, **{f"cluster.nctaid.{x}": 1 for x in "xyzw"},
    "clusterid.x": lambda t, b: b, "clusterid.y": 0, "clusterid.z": 0, "nclusterid.x": 2, "nclusterid.y": 1, "nclusterid.z": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTERS)
def test_registers(name: str) -> None:
    value = REGISTERS[name]
    expected = [value(i % 128, i // 128) if callable(value) else value for i in range(256)]
    assert per_thread(name).tolist() == expected


@pytest.mark.parametrize(
    ("name", "bits"), [("clock", 32), ("clock64", 64), ("globaltimer", 64), ("globaltimer.lo", 32)]
)
def test_clocks_move(name: str, bits: int) -> None:
    found = per_thread(name, bits)
    assert len(set(found.tolist())) == len(found)


ELSEWHERE = {
    # test_reference_intrinsics.py and test_reference_memory.py
    *(
        "d2i.lo",
        "d2i.hi",
        "lohi.i2d",
        "mulhi.i",
        "mulhi.ui",
        "mulhi.ll",
        "mulhi.ull",
        "mul24.i",
        "mul24.ui",
        "sad.i",
        "sad.ui",
    ),
    *("prmt", "prmt.f4e", "fns", "isspacep.shared", "isspacep.local", "isspacep.global", "move.ptr"),
}
TRIVIAL = {"internal.addrspace.wrap", "is_explicit_cluster", "isspacep.const", "isspacep.shared.cluster"}


def test_every_nvvm_intrinsic_of_the_table_is_tested() -> None:
    table = {n.removeprefix("llvm.nvvm.") for n in TEMPLATES if n.startswith("llvm.nvvm.")}
    tested = COVERED | ELSEWHERE | TRIVIAL | ONE.keys() | INTEGER.keys()
    tested |= {f"read.ptx.sreg.{n}" for n in [*REGISTERS, "clock", "clock64", "globaltimer", "globaltimer.lo"]}
    tested |= {f"idp2a.{s}.{t}" for s in "su" for t in "su"} | {"flo.u", "flo.s", "fabs", "fabs.ftz"}
    # These are covered when their tests run, which a selection of tests may leave out.
    late = {
        n for n in table if n.split(".")[0] in ("f2i", "f2ui", "f2ll", "f2ull", "d2i", "d2ui", "d2ll", "d2ull", "d2f")
    }
    late |= {n for n in table if n.split(".")[0] in ("i2f", "ui2f", "ll2f", "ull2f", "i2d", "ui2d", "ll2d", "ull2d")}
    late |= {
        n for n in table if n.startswith(("f2f16", "f2bf16", "ff2f16", "ff2bf16", "f2h", "rcp.approx", "rsqrt.approx"))
    }
    late |= {n for n in table if n.endswith(".approx.d")}
    # Read by name in tests/simt/test_inline_asm.py.
    late |= {n for n in table if n.startswith(("read.ptx.sreg.envreg", "read.ptx.sreg.reserved_smem"))}
    assert table - tested - late == set()
