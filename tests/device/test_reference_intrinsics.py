"""Intrinsics against Python, NumPy and the processor's own rounding modes, on edge values."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelwright.device.reference import calls, intrinsics
from kernelwright.passes.libdevice import called_functions, find_libdevice
from tests.device.ir_kernels import DTYPES, Array, bfloat, evaluate, floats, integers, pairs, same
from tests.device.test_numbers import MODES, rounding
from tests.device.test_reference_ops import as_int, to_bfloat, to_signed, wrap

# -- integers ----------------------------------------------------------------------------------------------------------


def clamped(v: int, w: int) -> int:
    half: int = 1 << (w - 1)
    return min(max(v, -half), half - 1)


Two = Callable[[int, int, int], int]
TWO: dict[str, Two] = {
    "smax": lambda a, b, w: max(to_signed(a, w), to_signed(b, w)),
    "smin": lambda a, b, w: min(to_signed(a, w), to_signed(b, w)),
    "umax": lambda a, b, w: max(a, b),
    "umin": lambda a, b, w: min(a, b),
    "uadd.sat": lambda a, b, w: min(a + b, 2**w - 1),
    "usub.sat": lambda a, b, w: max(a - b, 0),
    "sadd.sat": lambda a, b, w: clamped(to_signed(a, w) + to_signed(b, w), w),
    "ssub.sat": lambda a, b, w: clamped(to_signed(a, w) - to_signed(b, w), w),
    "ushl.sat": lambda a, b, w: min(a << min(b, 200), 2**w - 1),
    "sshl.sat": lambda a, b, w: clamped(to_signed(a, w) << min(b, 200), w),
}


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("name", TWO)
def test_two_operands(name: str, bits: int) -> None:
    a, b = pairs(integers(bits))
    found = evaluate(
        f"  %r = call i{bits} @llvm.{name}.i{bits}(i{bits} %a, i{bits} %b)", [f"i{bits}"] * 2, f"i{bits}", a, b
    )
    same(found, wrap([TWO[name](int(x), int(y), bits) for x, y in zip(a, b, strict=True)], bits))


ONE: dict[str, Callable[[int, int], int]] = {
    "ctpop": lambda a, w: bin(a).count("1"),
    "bitreverse": lambda a, w: int(bin(a)[2:].zfill(w)[::-1], 2),
    "bswap": lambda a, w: int.from_bytes(a.to_bytes(w // 8, "big"), "little"),
}


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str, bits: int) -> None:
    a = integers(bits)
    found = evaluate(f"  %r = call i{bits} @llvm.{name}.i{bits}(i{bits} %a)", [f"i{bits}"], f"i{bits}", a)
    same(found, wrap([ONE[name](int(x), bits) for x in a], bits))


@pytest.mark.parametrize("bits", [8, 32, 64, 128])
def test_counting_zeros_and_abs(bits: int) -> None:
    a = integers(bits)
    numbers = [as_int(x) for x in a]

    def call(name: str) -> Array:
        return evaluate(f"  %r = call i{bits} @llvm.{name}.i{bits}(i{bits} %a, i1 false)", [f"i{bits}"], f"i{bits}", a)

    same(call("ctlz"), wrap([len(bin(x)[2:].zfill(bits).split("1")[0]) for x in numbers], bits))
    same(call("cttz"), wrap([len(bin(x)[2:].zfill(bits)[::-1].split("1")[0]) for x in numbers], bits))
    same(call("abs"), wrap([abs(to_signed(x, bits)) for x in numbers], bits))


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_funnel_shifts(bits: int) -> None:
    a, b = pairs(integers(bits))
    c = np.resize(integers(bits), len(a))
    shifts: dict[str, Callable[[int, int, int], int]] = {
        "fshl": lambda x, y, n: (x << bits | y) << n >> bits,
        "fshr": lambda x, y, n: (x << bits | y) >> n,
    }
    for name, shift in shifts.items():
        found = evaluate(
            f"  %r = call i{bits} @llvm.{name}.i{bits}(i{bits} %a, i{bits} %b, i{bits} %c)", [f"i{bits}"] * 3, f"i{bits}",
            a, b, c,
        )  # fmt: skip
        numbers = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        same(found, wrap([shift(x, y, z % bits) for x, y, z in numbers], bits))


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("sign", "su")
def test_overflow_is_reported(operation: str, sign: str) -> None:
    a, b = pairs(integers(32))
    name = f"llvm.{sign}{operation}.with.overflow.i32"
    body = f"""  %p = call {{ i32, i1 }} @{name}(i32 %a, i32 %b)
  %v = extractvalue {{ i32, i1 }} %p, 0
  %o = extractvalue {{ i32, i1 }} %p, 1
  %vz = zext i32 %v to i64
  %oz = zext i1 %o to i64
  %os = shl i64 %oz, 40
  %r = or i64 %vz, %os"""
    found = evaluate(body, ["i32", "i32"], "i64", a, b)
    kind = np.int64 if sign == "s" else np.uint64
    x, y = (v.view(np.int32 if sign == "s" else np.uint32).astype(object) for v in (a, b))
    exact = {"add": x + y, "sub": x - y, "mul": x * y}[operation]
    low, high = (-(2**31), 2**31 - 1) if kind is np.int64 else (0, 2**32 - 1)
    same(found, np.array([(v % 2**32) | (not low <= v <= high) << 40 for v in exact], np.uint64))


def test_three_way_comparison() -> None:
    a, b = pairs(integers(32))
    for name, kind in (("scmp", np.int32), ("ucmp", np.uint32)):
        found = evaluate(f"  %r = call i8 @llvm.{name}.i8.i32(i32 %a, i32 %b)", ["i32", "i32"], "i8", a, b)
        x, y = a.view(kind), b.view(kind)
        same(found, ((x > y).astype(np.int8) - (x < y)).view(np.uint8))


def test_integer_intrinsics_work_on_vectors() -> None:
    a, b = np.random.default_rng(1).integers(0, 2**16, (2, 100, 2), dtype=np.uint16)
    body = "  %r = call <2 x i16> @llvm.smax.v2i16(<2 x i16> %a, <2 x i16> %b)"
    found = evaluate(body, ["<2 x i16>"] * 2, "<2 x i16>", a, b)
    same(found, np.maximum(a.view(np.int16), b.view(np.int16)).view(np.uint16))


# -- floating point ----------------------------------------------------------------------------------------------------


def half_away(x: Array) -> Array:
    below = np.floor(np.abs(x))
    with np.errstate(invalid="ignore"):
        rounded: Array = np.copysign(below + (np.abs(x) - below >= 0.5), x).astype(x.dtype)
    return rounded


ROUNDING: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "roundeven": np.rint,
    "round": half_away, "fabs": np.abs, "sqrt": np.sqrt, "canonicalize": lambda x: x,
}  # fmt: skip


@pytest.mark.parametrize("type", ["half", "float", "double"])
@pytest.mark.parametrize("name", ROUNDING)
def test_unary_float(name: str, type: str) -> None:
    a = floats(type)
    suffix = {"half": "f16", "float": "f32", "double": "f64"}[type]
    found = evaluate(f"  %r = call {type} @llvm.{name}.{suffix}({type} %a)", [type], type, a)
    with np.errstate(all="ignore"):
        same(found, ROUNDING[name](a))


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "copysign": np.copysign,
    "minnum": lambda a, b: signed_zero(np.fmin(a, b), a, b, np.signbit(a) | np.signbit(b)),
    "maxnum": lambda a, b: signed_zero(np.fmax(a, b), a, b, np.signbit(a) & np.signbit(b)),
    "minimumnum": lambda a, b: signed_zero(np.fmin(a, b), a, b, np.signbit(a) | np.signbit(b)),
    "maximumnum": lambda a, b: signed_zero(np.fmax(a, b), a, b, np.signbit(a) & np.signbit(b)),
    "minimum": lambda a, b: signed_zero(np.minimum(a, b), a, b, np.signbit(a) | np.signbit(b)),
    "maximum": lambda a, b: signed_zero(np.maximum(a, b), a, b, np.signbit(a) & np.signbit(b)),
}


def signed_zero(found: Array, a: Array, b: Array, negative: Array) -> Array:
    """NumPy leaves the sign of a zero open: where both are zero, ``negative`` tells it."""
    return np.where((a == 0) & (b == 0), np.where(negative, -0.0, 0.0), found).astype(a.dtype)


@pytest.mark.parametrize("type", ["half", "float", "double"])
@pytest.mark.parametrize("name", BINARY)
def test_binary_float(name: str, type: str) -> None:
    a, b = pairs(floats(type))
    suffix = {"half": "f16", "float": "f32", "double": "f64"}[type]
    found = evaluate(f"  %r = call {type} @llvm.{name}.{suffix}({type} %a, {type} %b)", [type] * 2, type, a, b)
    same(found, BINARY[name](a, b))


@pytest.mark.parametrize(
    "name", ["exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "cosh", "sinh", "atan"]
)
def test_generic_math_is_the_rounded_double(name: str) -> None:
    a = floats("float")
    found = evaluate(f"  %r = call float @llvm.{name}.f32(float %a)", ["float"], "float", a)
    with np.errstate(all="ignore"):
        expected = getattr(np, name.replace("atan", "arctan"))(a.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(found, expected, maxulp=1)


def test_pow_powi_ldexp_frexp() -> None:
    a = floats("double")
    b = np.resize(np.array([0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -3.0, math.inf, -math.inf, math.nan]), len(a))
    with np.errstate(all="ignore"):
        found = evaluate("  %r = call double @llvm.pow.f64(double %a, double %b)", ["double"] * 2, "double", a, b)
        np.testing.assert_array_max_ulp(found, a**b, maxulp=1)
        n = np.resize(np.array([0, 1, -1, 100, -100, -1074, 2000, -3000], np.int32), len(a))
        body = "  %r = call double @llvm.ldexp.f64.i32(double %a, i32 %b)"
        same(evaluate(body, ["double", "i32"], "double", a, n.view(np.uint32)), np.ldexp(a, n))
        body = """  %p = call { double, i32 } @llvm.frexp.f64.i32(double %a)
  %m = extractvalue { double, i32 } %p, 0
  %e = extractvalue { double, i32 } %p, 1
  %r = call double @llvm.ldexp.f64.i32(double %m, i32 %e)"""
        same(evaluate(body, ["double"], "double", a), a)
        body = "  %r = call double @llvm.powi.f64.i32(double %a, i32 %b)"
        small = np.resize(np.array([0, 1, -1, 2, 3], np.int32), len(a))
        found = evaluate(body, ["double", "i32"], "double", a, small.view(np.uint32))
        np.testing.assert_array_max_ulp(found, a ** small.astype(float), maxulp=1)


@pytest.mark.parametrize("bits", [32, 64])
def test_rounding_to_integers(bits: int) -> None:
    a = np.concatenate([floats("double"), [0.49999999999999994, 2.5, -2.5, 3.5]])
    away = half_away(a)
    low = -(1 << (bits - 1))
    for name, whole in (("lrint", np.rint(a)), ("llrint", np.rint(a)), ("lround", away), ("llround", away)):
        found = evaluate(f"  %r = call i{bits} @llvm.{name}.i{bits}.f64(double %a)", ["double"], f"i{bits}", a)
        exact = [int(math.copysign(2**70, w)) if math.isinf(w) else w for w in whole.tolist()]
        same(found, wrap([low if math.isnan(w) else clamped(int(w), bits) for w in exact], bits))


def test_two_results_at_once() -> None:
    a = floats("double")
    body = """  %p = call {{ double, double }} @llvm.{name}.f64(double %a)
  %r = extractvalue {{ double, double }} %p, {index}"""
    with np.errstate(all="ignore"):
        fraction, whole = np.modf(a)
        oracles = {("sincos", 0): np.sin(a), ("sincos", 1): np.cos(a), ("modf", 0): fraction, ("modf", 1): whole}
    for (name, index), expected in oracles.items():
        found = evaluate(body.format(name=name, index=index), ["double"], "double", a)
        np.testing.assert_array_max_ulp(found, expected, maxulp=1)


def test_two_argument_math() -> None:
    a, b = pairs(floats("double"))
    found = evaluate("  %r = call double @llvm.atan2.f64(double %a, double %b)", ["double"] * 2, "double", a, b)
    np.testing.assert_array_max_ulp(found, np.arctan2(a, b), maxulp=1)
    with np.errstate(all="ignore"):
        small = a[(np.abs(a) < 300) | ~np.isfinite(a)]
        found = evaluate("  %r = call double @llvm.exp10.f64(double %a)", ["double"], "double", small)
        np.testing.assert_array_max_ulp(found, 10.0**small, maxulp=1)


def test_half_through_integers() -> None:
    a = floats("float")
    with np.errstate(all="ignore"):
        expected = a.astype(np.float16)
    body = """  %h = call i16 @llvm.convert.to.fp16.f32(float %a)
  %r = call float @llvm.convert.from.fp16.f32(i16 %h)"""
    same(evaluate(body, ["float"], "float", a), expected.astype(np.float32))


def test_values_that_pass_through() -> None:
    a, b = pairs(integers(64))
    same(evaluate("  %r = call i64 @llvm.expect.i64(i64 %a, i64 7)", ["i64"], "i64", a), a)
    same(evaluate("  %r = call i64 @llvm.expect.with.probability.i64(i64 %a, i64 7, double 0.5)", ["i64"], "i64", a), a)
    same(evaluate("  %r = call i64 @llvm.ssa.copy.i64(i64 %a)", ["i64"], "i64", a), a)
    for name in ("launder", "strip"):
        body = f"  %r = call ptr @llvm.{name}.invariant.group.p0(ptr %a)"
        same(evaluate(body, ["ptr"], "ptr", a), a)
    same(evaluate("  %r = call ptr @llvm.ptrmask.p0.i64(ptr %a, i64 %b)", ["ptr", "i64"], "ptr", a, b), a & b)
    assert not evaluate("  %r = call i1 @llvm.is.constant.i64(i64 %a)", ["i64"], "i1", a).any()
    body = "  %r = call i64 @llvm.objectsize.i64.p0(ptr %a, i1 false, i1 true, i1 false)"
    assert (evaluate(body, ["ptr"], "i64", a) == 2**64 - 1).all()
    assert (evaluate(body.replace("i1 false, i1 true", "i1 true, i1 true"), ["ptr"], "i64", a) == 0).all()
    body = "  %p = inttoptr i32 %a to ptr\n  %q = ptrtoint ptr %p to i16\n  %r = zext i16 %q to i64"
    same(evaluate(body, ["i32"], "i64", a.astype(np.uint32)), a & np.uint64(0xFFFF))


REDUCE: dict[str, Callable[[Array], Array]] = {
    "add": lambda x: np.add.reduce(x, 1),
    "mul": lambda x: np.multiply.reduce(x, 1),
    "and": lambda x: np.bitwise_and.reduce(x, 1),
    "or": lambda x: np.bitwise_or.reduce(x, 1),
    "xor": lambda x: np.bitwise_xor.reduce(x, 1),
    "umax": lambda x: x.max(1),
    "umin": lambda x: x.min(1),
    "smax": lambda x: x.view(np.int32).max(1).view(np.uint32),
    "smin": lambda x: x.view(np.int32).min(1).view(np.uint32),
}


@pytest.mark.parametrize("name", REDUCE)
def test_reductions_of_integer_vectors(name: str) -> None:
    a = np.random.default_rng(8).integers(0, 2**32, (200, 4), dtype=np.uint32)
    found = evaluate(f"  %r = call i32 @llvm.vector.reduce.{name}.v4i32(<4 x i32> %a)", ["<4 x i32>"], "i32", a)
    same(found, REDUCE[name](a).astype(np.uint32))


def test_reductions_of_float_vectors_go_from_first_to_last() -> None:
    a = np.random.default_rng(9).normal(size=(200, 4)).astype(np.float32)
    for name, operation in (("fadd", np.add), ("fmul", np.multiply)):
        body = f"  %r = call float @llvm.vector.reduce.{name}.v4f32(float 3.0, <4 x float> %a)"
        total = np.full(200, 3, np.float32)
        for n in range(4):
            total = operation(total, a[:, n])
        same(evaluate(body, ["<4 x float>"], "float", a), total)
    for name, extreme in (("fmax", np.max), ("fmin", np.min), ("fmaximum", np.max), ("fminimum", np.min)):
        body = f"  %r = call float @llvm.vector.reduce.{name}.v4f32(<4 x float> %a)"
        same(evaluate(body, ["<4 x float>"], "float", a), extreme(a, 1))


def test_saturating_conversion_of_llvm() -> None:
    a = floats("double")
    for name, kind in (("fptosi", np.int32), ("fptoui", np.uint32)):
        found = evaluate(f"  %r = call i32 @llvm.{name}.sat.i32.f64(double %a)", ["double"], "i32", a)
        info = np.iinfo(kind)
        expected = np.clip(np.nan_to_num(np.trunc(a), nan=0.0, posinf=1e300, neginf=-1e300), info.min, info.max)
        same(found, expected.astype(np.int64).astype(np.uint32))


def test_classes_of_numbers() -> None:
    values = [math.nan, -math.inf, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, math.inf]
    a = np.array(values, np.float32)
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    bits = [2, 4, 8, 16, 32, 64, 128, 256, 512]
    for n, bit in enumerate(bits):
        found = evaluate(f"  %r = call i1 @llvm.is.fpclass.f32(float %a, i32 {bit})", ["float"], "i1", a)
        assert found.tolist() == [int(m == n) for m in range(len(values))]
    assert evaluate("  %r = call i1 @llvm.is.fpclass.f32(float %a, i32 1)", ["float"], "i1", signalling).tolist() == [1]


@pytest.mark.parametrize("type", ["half", "float", "double", "bfloat"])
def test_fma_rounds_once(type: str) -> None:
    a, b = pairs(floats(type))
    c = np.resize(np.roll(floats(type), 3), len(a))
    suffix = {"half": "f16", "float": "f32", "double": "f64", "bfloat": "bf16"}[type]
    body = f"  %r = call {type} @llvm.fma.{suffix}({type} %a, {type} %b, {type} %c)"
    found = evaluate(body, [type] * 3, type, a, b, c)
    from tests.device.test_numbers import LIBM

    with np.errstate(all="ignore"):
        if type == "double":
            same(found, np.array([LIBM.fma(*map(float, t)) for t in zip(a, b, c, strict=True)]))
        elif type == "float":
            same(found, np.array([LIBM.fmaf(*map(float, t)) for t in zip(a, b, c, strict=True)], np.float32))
        else:
            # Rounding the sum to odd in a wider format makes a second rounding harmless (Boldo and Melquiond, 2008).
            wide = [bfloat(v) if type == "bfloat" else v for v in (a, b, c)]
            odd = np.array([rounded_to_odd(*map(float, t)) for t in zip(*wide, strict=True)])
            same(found, odd.astype(np.float16) if type == "half" else to_bfloat(single_to_odd(odd)))


def single_to_odd(x: Array) -> Array:
    """Doubles to float32, inexact ones to the neighbour whose last bit is one."""
    with rounding("rz"):
        cut = x.astype(np.float32)
    inexact = (cut.astype(np.float64) != x) & np.isfinite(x)
    return np.where(inexact, cut.view(np.uint32) | 1, cut.view(np.uint32)).astype(np.uint32).view(np.float32)


def rounded_to_odd(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c if not (math.isinf(c) and math.isfinite(a) and math.isfinite(b)) else c
    with rounding("rm"):
        low = a * b + c
    with rounding("rp"):
        high = a * b + c
    if low == high:
        return a * b + c
    return low if np.float64(low).view(np.uint64) & np.uint64(1) else high


def test_contracted_products_are_fused() -> None:
    a, b = pairs(floats("float"))
    c = np.resize(np.roll(floats("float"), 5), len(a))
    from tests.device.test_numbers import LIBM

    def fused(sx: int, sy: int) -> Array:
        rows = zip(a, b, c, strict=True)
        return np.array([LIBM.fmaf(sx * float(x), float(y), sy * float(z)) for x, y, z in rows], np.float32)

    product = "  %p = fmul contract float %a, %b\n"
    types = ["float"] * 3
    same(evaluate(product + "  %r = fadd contract float %p, %c", types, "float", a, b, c), fused(1, 1))
    same(evaluate(product + "  %r = fsub contract float %p, %c", types, "float", a, b, c), fused(1, -1))
    same(evaluate(product + "  %r = fsub contract float %c, %p", types, "float", a, b, c), fused(-1, 1))
    with np.errstate(all="ignore"):
        same(
            evaluate("  %p = fmul float %a, %b\n  %r = fadd contract float %p, %c", types, "float", a, b, c), a * b + c
        )
        twice = product + "  %s = fadd contract float %p, %c\n  %r = fadd contract float %s, %p"
        same(evaluate(twice, types, "float", a, b, c), (a * b + c) + a * b)


def test_flushing_functions_flush() -> None:
    a, b = pairs(floats("float"))
    extra = 'attributes #0 = { "denormal-fp-math-f32"="preserve-sign,preserve-sign" }'
    tiny = np.float32(2.0**-126)

    def flush(x: Array) -> Array:
        return np.where(np.abs(x) < tiny, np.copysign(np.float32(0), x), x).astype(np.float32)

    found = evaluate("  %r = fmul float %a, %b", ["float"] * 2, "float", a, b, extra=extra, attributes="#0")
    with np.errstate(all="ignore"):
        same(found, flush(flush(a) * flush(b)))
    assert (np.abs(a) < tiny).any()


# -- NVVM --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("type", "suffix"), [("float", "f"), ("double", "d")])
def test_arithmetic_in_every_mode(mode: str, type: str, suffix: str) -> None:
    a, b = pairs(floats(type))
    for name, operation in (("add", np.add), ("mul", np.multiply), ("div", np.divide)):
        body = f"  %r = call {type} @llvm.nvvm.{name}.{mode}.{suffix}({type} %a, {type} %b)"
        found = evaluate(body, [type] * 2, type, a, b)
        with np.errstate(all="ignore"), rounding(mode):
            expected = operation(a, b)
        same(found, expected)
    for name, single in (("sqrt", np.sqrt), ("rcp", lambda x: np.divide(x.dtype.type(1), x))):
        found = evaluate(f"  %r = call {type} @llvm.nvvm.{name}.{mode}.{suffix}({type} %a)", [type], type, a)
        with np.errstate(all="ignore"), rounding(mode):
            expected = single(a)
        same(found, expected)


def test_flush_and_saturation_modifiers() -> None:
    a, b = pairs(floats("float"))
    found = evaluate("  %r = call float @llvm.nvvm.add.rn.ftz.f(float %a, float %b)", ["float"] * 2, "float", a, b)
    tiny = np.float32(2.0**-126)

    def flush(x: Array) -> Array:
        return np.where(np.abs(x) < tiny, np.copysign(np.float32(0), x), x).astype(np.float32)

    with np.errstate(all="ignore"):
        total = flush(flush(a) + flush(b))
        same(found, total)
        found = evaluate(
            "  %r = call float @llvm.nvvm.add.rn.ftz.sat.f(float %a, float %b)", ["float"] * 2, "float", a, b
        )
        same(found, np.where(total > 0, np.minimum(total, 1), 0).astype(np.float32))


@pytest.mark.parametrize("mode", MODES)
def test_conversions_in_every_mode(mode: str) -> None:
    ties = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e9 + 0.5], np.float32)
    for type, letter in (("float", "f"), ("double", "d")):
        a = np.concatenate([floats(type), ties.astype(DTYPES[type])])
        whole = {"rn": np.rint, "rm": np.floor, "rp": np.ceil, "rz": np.trunc}[mode](a)
        for word, kind in (("i", np.int32), ("ui", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
            target = "i64" if word.endswith("ll") else "i32"
            found = evaluate(f"  %r = call {target} @llvm.nvvm.{letter}2{word}.{mode}({type} %a)", [type], target, a)
            info = np.iinfo(kind)
            nan = 1 << (info.bits - 1) if letter == "d" or info.bits == 64 else 0
            numbers = [
                nan if math.isnan(w) else info.max if w >= info.max else info.min if w <= info.min else int(w)
                for w in whole
            ]
            same(found, wrap(numbers, info.bits))
    for word, kind in (("i", np.int32), ("ui", np.uint32), ("ll", np.int64), ("ull", np.uint64)):
        bits = np.iinfo(kind).bits
        n = integers(bits)
        for type, letter in (("float", "f"), ("double", "d")):
            found = evaluate(f"  %r = call {type} @llvm.nvvm.{word}2{letter}.{mode}(i{bits} %a)", [f"i{bits}"], type, n)
            if word == "ull":  # processors before AVX-512 convert it in several steps
                exact = [float_in_mode(int(v), DTYPES[type], mode) for v in n]
                same(found, np.array(exact, DTYPES[type]))
                continue
            with rounding(mode):
                expected = n.view(kind).astype(DTYPES[type])
            same(found, expected)
    a = floats("double")
    found = evaluate(f"  %r = call float @llvm.nvvm.d2f.{mode}(double %a)", ["double"], "float", a)
    with np.errstate(all="ignore"), rounding(mode):
        expected = a.astype(np.float32)
    same(found, expected)


def float_in_mode(n: int, kind: Any, mode: str) -> Any:
    """The float nearest to ``n`` on the side that the mode asks for, found by trying neighbours."""
    near = kind(n)
    candidates = [near, np.nextafter(near, kind(np.inf)), np.nextafter(near, kind(-np.inf))]
    below = max(c for c in candidates if Fraction(float(c)) <= n)
    above = min(c for c in candidates if Fraction(float(c)) >= n)
    return {"rn": near, "rm": below, "rz": below, "rp": above}[mode]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sin.approx.f", np.sin), ("cos.approx.f", np.cos), ("lg2.approx.f", np.log2), ("ex2.approx.f32", np.exp2),
        ("rcp.approx.f", lambda x: 1 / x), ("rsqrt.approx.f", lambda x: 1 / np.sqrt(x)), ("sqrt.approx.f", np.sqrt),
    ],
)  # fmt: skip
def test_approximations_are_the_rounded_double(name: str, function: Callable[[Array], Array]) -> None:
    a = floats("float")
    found = evaluate(f"  %r = call float @llvm.nvvm.{name}(float %a)", ["float"], "float", a)
    with np.errstate(all="ignore"):
        expected = function(a.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(found, expected, maxulp=1)


NVVM_INTEGER: dict[str, tuple[str, int, Callable[..., int]]] = {
    "mulhi.i": ("i32", 2, lambda a, b: to_signed(a, 32) * to_signed(b, 32) >> 32),
    "mulhi.ui": ("i32", 2, lambda a, b: a * b >> 32),
    "mulhi.ll": ("i64", 2, lambda a, b: to_signed(a, 64) * to_signed(b, 64) >> 64),
    "mulhi.ull": ("i64", 2, lambda a, b: a * b >> 64),
    "mul24.i": ("i32", 2, lambda a, b: to_signed(a % 2**24, 24) * to_signed(b % 2**24, 24)),
    "mul24.ui": ("i32", 2, lambda a, b: (a % 2**24) * (b % 2**24)),
    "sad.i": ("i32", 3, lambda a, b, c: abs(to_signed(a, 32) - to_signed(b, 32)) + c),
    "sad.ui": ("i32", 3, lambda a, b, c: abs(a - b) + c),
    "idp4a.s.s": ("i32", 3, lambda a, b, c: c + dot4(a, b, True, True)),
    "idp4a.u.s": ("i32", 3, lambda a, b, c: c + dot4(a, b, False, True)),
    "prmt": ("i32", 3, lambda a, b, c: permuted(a, b, c)),
    "prmt.f4e": ("i32", 3, lambda a, b, c: (b << 32 | a) >> 8 * (c % 4)),
    "fns": ("i32", 3, lambda a, b, c: nth_set(a, b, to_signed(c, 32))),
}


def dot4(a: int, b: int, signed_a: bool, signed_b: bool) -> int:
    x = np.frombuffer(a.to_bytes(4, "little"), np.int8 if signed_a else np.uint8).astype(int)
    y = np.frombuffer(b.to_bytes(4, "little"), np.int8 if signed_b else np.uint8).astype(int)
    return int((x * y).sum())


def permuted(a: int, b: int, selector: int) -> int:
    source = (b << 32 | a).to_bytes(8, "little")
    picked = bytearray()
    for n in range(4):
        nibble = selector >> 4 * n & 15
        byte = source[nibble & 7]
        picked.append((255 if byte > 127 else 0) if nibble > 7 else byte)
    return int.from_bytes(picked, "little")


def nth_set(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else -1
    positions = [p for p in range(32) if mask >> p & 1]
    reach = [p for p in positions if p >= base] if offset > 0 else [p for p in positions[::-1] if p <= base]
    if base > 31:
        return -1
    return reach[abs(offset) - 1] if abs(offset) <= len(reach) else -1


@pytest.mark.parametrize("name", NVVM_INTEGER)
def test_nvvm_integer_operations(name: str) -> None:
    type, count, oracle = NVVM_INTEGER[name]
    bits = int(type[1:])
    a, b = pairs(integers(bits))
    inputs = [a, b, np.resize(integers(bits)[::-1], len(a))][:count]
    if name == "fns":
        inputs[1], inputs[2] = inputs[1] % 34, inputs[2] % 9 - np.uint32(4)
    arguments = ", ".join(f"{type} %{n}" for n in "abc"[:count])
    found = evaluate(f"  %r = call {type} @llvm.nvvm.{name}({arguments})", [type] * count, type, *inputs)
    same(found, wrap([oracle(*map(int, row)) for row in zip(*inputs, strict=True)], bits))


def test_double_halves() -> None:
    a = floats("double")
    body = """  %lo = call i32 @llvm.nvvm.d2i.lo(double %a)
  %hi = call i32 @llvm.nvvm.d2i.hi(double %a)
  %r = call double @llvm.nvvm.lohi.i2d(i32 %lo, i32 %hi)"""
    found = evaluate(body, ["double"], "double", a)
    assert np.array_equal(found.view(np.uint64), a.view(np.uint64))


def test_find_leading_bit() -> None:
    a = integers(32)
    for shift in (False, True):
        found = evaluate(f"  %r = call i32 @llvm.nvvm.flo.s.i32(i32 %a, i1 {str(shift).lower()})", ["i32"], "i32", a)
        expected = []
        for v in map(int, a):
            size = (v ^ 0xFFFFFFFF if v >> 31 else v).bit_length()
            expected.append(-1 if size == 0 else 32 - size if shift else size - 1)
        same(found, wrap(expected, 32))


def test_packing_two_halves_puts_the_first_on_top() -> None:
    a, b = pairs(floats("float"))
    body = "  %r = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %a, float %b)"
    found = evaluate(body, ["float"] * 2, "<2 x half>", a, b)
    with np.errstate(all="ignore"):
        same(found, np.stack([b, a], 1).astype(np.float16))


def test_every_intrinsic_of_libdevice_is_known() -> None:
    path = find_libdevice()
    if path is None:
        pytest.skip("libdevice is not installed")
    import llvmlite.binding as llvm

    text = str(llvm.parse_bitcode(path.read_bytes()))
    assert not called_functions(text)
    import re

    names = set(re.findall(r'^declare [^@]*@"?([\w.]+)"?\(', text, re.MULTILINE)) - {"__nvvm_reflect"}
    assert len(names) > 200
    unknown = [
        n for n in sorted(names)
        if not intrinsics.lookup(n)
        and n not in calls._SPECIAL
        and intrinsics.base_name(n) not in intrinsics.IGNORED | calls._SPECIAL.keys()
    ]  # fmt: skip
    assert not unknown
