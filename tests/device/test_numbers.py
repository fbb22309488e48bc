"""Exact rounding against the processor's own: it runs the same operation in the same rounding mode."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import math
import platform
import struct
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device import floating_point as num
from tests.examples import few

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
LIBM.fma.restype = ctypes.c_double
LIBM.fma.argtypes = [ctypes.c_double] * 3
LIBM.fmaf.restype = ctypes.c_float
LIBM.fmaf.argtypes = [ctypes.c_float] * 3

# fenv.h of x86-64 and of AArch64.
MODES = (
    {"rn": 0, "rm": 0x400, "rp": 0x800, "rz": 0xC00}
    if platform.machine() == "x86_64"
    else {"rn": 0, "rp": 0x400000, "rm": 0x800000, "rz": 0xC00000}
)

doubles = st.floats(allow_nan=False, width=64)
singles = st.floats(allow_nan=False, width=32)
EDGES = [0.0, -0.0, 1.0, -1.0, 3.0, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 1.79e308, math.inf, 0.1]
EDGES_32 = [0.0, -0.0, 1.0, -1.0, 3.0, 1.401298464324817e-45, 1.1754943508222875e-38, 3.4028234663852886e38, -math.inf]


@contextlib.contextmanager
def rounding(mode: str) -> Iterator[None]:
    LIBM.fesetround(MODES[mode])
    try:
        yield
    finally:
        LIBM.fesetround(0)


def bits(x: float) -> str:
    return "nan" if x != x else struct.pack(">d", x).hex()


def check_double(mode: num.Mode, a: float, b: float, c: float) -> None:
    with rounding(mode):
        expected = [a + b, a * b, LIBM.fma(a, b, c), a / b if b else None, math.sqrt(a) if a >= 0 else math.nan]
    found = [
        num.add(a, b, num.DOUBLE, mode),
        num.multiply(a, b, num.DOUBLE, mode),
        num.fused(a, b, c, num.DOUBLE, mode),
        num.divide(a, b, num.DOUBLE, mode) if b else None,
        num.square_root(a, num.DOUBLE, mode),
    ]
    for name, x, y in zip(["add", "multiply", "fused", "divide", "sqrt"], found, expected, strict=True):
        assert (x is None or y is None) or bits(x) == bits(y), (name, mode, a, b, c, x, y)


def check_single(mode: num.Mode, a: float, b: float, c: float) -> None:
    x, y = np.float32(a), np.float32(b)
    with np.errstate(all="ignore"), rounding(mode):
        expected = [x + y, x * y, LIBM.fmaf(a, b, c), x / y, np.sqrt(x)]
    found = [
        num.add(a, b, num.SINGLE, mode),
        num.multiply(a, b, num.SINGLE, mode),
        num.fused(a, b, c, num.SINGLE, mode),
        num.divide(a, b, num.SINGLE, mode),
        num.square_root(a, num.SINGLE, mode),
    ]
    for name, p, q in zip(["add", "multiply", "fused", "divide", "sqrt"], found, map(float, expected), strict=True):
        assert bits(p) == bits(q), (name, mode, a, b, c, p, q)


@pytest.mark.parametrize("mode", MODES)
def test_edges_in_every_mode(mode: num.Mode) -> None:
    for a in EDGES:
        for b in EDGES:
            for c in EDGES[:8]:
                check_double(mode, a, b, c)
    for a in EDGES_32:
        for b in EDGES_32:
            for c in EDGES_32[:7]:
                check_single(mode, a, b, c)


@settings(max_examples=few(300), deadline=None)
@given(st.sampled_from(sorted(MODES)), doubles, doubles, doubles)
def test_double_in_every_mode(mode: num.Mode, a: float, b: float, c: float) -> None:
    check_double(mode, a, b, c)


@settings(max_examples=few(300), deadline=None)
@given(st.sampled_from(sorted(MODES)), singles, singles, singles)
def test_single_in_every_mode(mode: num.Mode, a: float, b: float, c: float) -> None:
    check_single(mode, a, b, c)


@settings(max_examples=few(1000), deadline=None)
@given(singles, singles, singles)
def test_fused_single_is_one_rounding(a: float, b: float, c: float) -> None:
    assert bits(num.fused_single(a, b, c)) == bits(LIBM.fmaf(a, b, c))


def test_fused_single_where_double_rounding_shows() -> None:
    """a * b lies in the middle of two float32 values, and c, too small for double to see, decides."""
    rng = np.random.default_rng(5)
    rounded_twice = 0
    for _ in range(2000):
        a, b = (1 + int(n) * 2.0**-12 for n in rng.integers(1, 2**12, 2))
        c = float(np.float32(a * b * 2.0 ** -int(rng.integers(40, 80)) * rng.choice([-1, 1])))
        expected = LIBM.fmaf(a, b, c)
        assert bits(num.fused_single(a, b, c)) == bits(expected)
        rounded_twice += num.round_single(a * b + c) != expected
    assert rounded_twice > 100  # the cases are what they claim to be
    a, c = 1 + 2.0**-12, 2.0**-80
    assert num.fused_single(a, a, c) == 1 + 2.0**-11 + 2.0**-23
    assert num.round_single(a * a + c) == 1 + 2.0**-11


@settings(max_examples=few(400), deadline=None)
@given(st.floats(allow_nan=False))
def test_narrowing_rounds_like_numpy(x: float) -> None:
    with np.errstate(all="ignore"):
        assert bits(num.round_to(x, num.SINGLE)) == bits(float(np.float32(x)))
        assert bits(num.round_to(x, num.HALF)) == bits(float(np.float16(x)))
        assert bits(num.round_half(x)) == bits(float(np.float16(x)))
    assert bits(num.round_single(x)) == bits(num.round_to(x, num.SINGLE))


@pytest.mark.parametrize("mode", ["rm", "rp", "rz"])
@settings(max_examples=few(200), deadline=None)
@given(x=st.floats(allow_nan=False))
def test_directed_narrowing(mode: num.Mode, x: float) -> None:
    """The result is on the right side, and no other value of the format lies between it and x."""
    got = num.round_to(x, num.SINGLE, mode)
    with np.errstate(all="ignore"):
        up, down = (float(np.nextafter(np.float32(got), np.float32(s))) for s in (math.inf, -math.inf))
    if mode == "rm" or (mode == "rz" and x > 0):
        assert got <= x and (up > x or up == got)
    else:
        assert got >= x and (down < x or down == got)


@settings(max_examples=few(300), deadline=None)
@given(st.integers(-(2**64), 2**64), st.sampled_from(sorted(MODES)))
def test_integers_round_once(n: int, mode: num.Mode) -> None:
    for format, kind in ((num.SINGLE, np.float32), (num.DOUBLE, np.float64)):
        got = num.from_integer(n, format, mode)
        up, down = (float(np.nextafter(kind(got), kind(s))) for s in (math.inf, -math.inf))
        exact = Fraction(n)
        error = abs(Fraction(got) - exact)
        if mode == "rn":
            assert error <= abs(Fraction(up) - exact) and error <= abs(Fraction(down) - exact)
        elif mode == "rm" or (mode == "rz" and n > 0):
            assert Fraction(got) <= exact < Fraction(up)
        else:
            assert Fraction(down) < exact <= Fraction(got)


def test_whole_numbers_in_every_mode() -> None:
    values = [-2.5, -1.5, -0.5, -0.2, 0.0, 0.2, 0.5, 1.5, 2.5, 1e15 + 0.5, 0.49999999999999994]
    assert [num.whole(v, "rn") for v in values] == [round(v) for v in values]
    assert [num.whole(v, "rm") for v in values] == [math.floor(v) for v in values]
    assert [num.whole(v, "rp") for v in values] == [math.ceil(v) for v in values]
    assert [num.whole(v, "rz") for v in values] == [int(v) for v in values]
    away = [-3, -2, -1, 0, 0, 0, 1, 2, 3, 10**15 + 1, 0]
    assert [num.whole(v, "rna") for v in values] == away
    assert bits(num.integral(-0.2, "rn")) == bits(-0.0) and math.isnan(num.integral(math.nan, "rn"))


def test_conversion_clamps_and_names_nan() -> None:
    assert num.to_integer(1e20, 32, True) == 2**31 - 1 and num.to_integer(-1e20, 32, True) == 2**31
    assert num.to_integer(-1.0, 32, False) == 0 and num.to_integer(math.inf, 64, False) == 2**64 - 1
    assert num.to_integer(math.nan, 32, True, nan=7) == 7
    assert num.to_integer(2147483647.5, 32, True, "rn") == 2**31 - 1
    assert num.to_integer(-3.7, 32, True, "rm") == 2**32 - 4


def test_minimum_and_maximum() -> None:
    assert bits(num.minimum(0.0, -0.0)) == bits(-0.0) == bits(num.minimum(-0.0, 0.0))
    assert bits(num.maximum(0.0, -0.0)) == bits(0.0) == bits(num.maximum(-0.0, 0.0))
    assert num.minimum(math.nan, 2.0) == 2.0 == num.maximum(2.0, math.nan)
    assert math.isnan(num.minimum(math.nan, math.nan))
    assert num.minimum(-math.inf, 1.0) == -math.inf and num.maximum(3.0, 4.0) == 4.0


def test_flush_and_saturate() -> None:
    assert bits(num.flush(-1e-40)) == bits(-0.0) and num.flush(2.0**-126) == 2.0**-126
    assert [num.saturate(x) for x in (-1.0, 0.25, 7.0, math.inf)] == [0.0, 0.25, 1.0, 1.0]
    assert bits(num.saturate(math.nan)) == bits(0.0) == bits(num.saturate(-0.0))


def test_nan_payloads_survive_conversion_to_bits() -> None:
    for pattern in (0x7F800001, 0xFFC12345, 0x7FFFFFFF):
        assert num.single_bits(num.single_from_bits(pattern)) == pattern
    for pattern in (0x7C01, 0xFE00, 0x7FFF):
        assert num.half_bits(num.HALF_VALUES[pattern]) == pattern
        assert num.bfloat_bits(num.bfloat_from_bits(pattern | 0x7F80)) == pattern | 0x7F80
    assert num.single_bits(math.nan) == 0x7FFFFFFF and num.half_bits(math.nan) == 0x7FFF
