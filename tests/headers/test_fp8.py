"""Numbers of eight bits: converted as E4M3 and E5M2 say, in the code for the host and on the virtual GPU, and with CUDA's names.

The oracle is exact: the value nearest to a number among those of the format, by fractions. Special values are those that CUDA's own
header gives on the host (12.9, looked at beside the project): a NaN of a double keeps its sign, and is another one in E5M2.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright import Device
from kernelwright import compile as compile_program

from .conftest import CudaCompiler
from .jit import Program

LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B}
DIGITS, BIAS = {"e4m3": 3, "e5m2": 2}, {"e4m3": 7, "e5m2": 15}
FORMATS = ("e4m3", "e5m2")

_SOURCE = """
#include <cuda_fp8.h>
#define FROM(name, type, convert, sat, format) extern "C" SIDE void name(const type *in, unsigned char *out, long n) \\
  { for (long i = 0; i < n; i++) out[i] = convert(in[i], sat, format); }
#define MADE(name, T, type) extern "C" SIDE void name(const type *in, unsigned char *out, long n) \\
  { for (long i = 0; i < n; i++) out[i] = T(in[i]).__x; }
#define FORMAT(kind, format, T) \\
  FROM(kind##_float_sat, float, __nv_cvt_float_to_fp8, __NV_SATFINITE, format) \\
  FROM(kind##_float_no, float, __nv_cvt_float_to_fp8, __NV_NOSAT, format) \\
  FROM(kind##_double_sat, double, __nv_cvt_double_to_fp8, __NV_SATFINITE, format) \\
  FROM(kind##_double_no, double, __nv_cvt_double_to_fp8, __NV_NOSAT, format) \\
  MADE(kind##_made_float, T, float) MADE(kind##_made_int, T, int) MADE(kind##_made_ull, T, unsigned long long) \\
  extern "C" SIDE void kind##_to_half(const unsigned char *in, unsigned short *out, long n) \\
    { for (long i = 0; i < n; i++) out[i] = __nv_cvt_fp8_to_halfraw(in[i], format).x; } \\
  extern "C" SIDE void kind##_to_float(const unsigned char *in, float *out, long n) \\
    { for (long i = 0; i < n; i++) { T v; v.__x = in[i]; out[i] = (float)v; } } \\
  extern "C" SIDE void kind##_to_integers(const unsigned char *in, long long *out, long n) \\
    { for (long i = 0; i < n; i++) { T v; v.__x = in[i]; out[4 * i] = (signed char)v; out[4 * i + 1] = (unsigned short)v; \\
        out[4 * i + 2] = (int)v; out[4 * i + 3] = (bool)v; } }
FORMAT(e4m3, __NV_E4M3, __nv_fp8_e4m3)
FORMAT(e5m2, __NV_E5M2, __nv_fp8_e5m2)
extern "C" SIDE void pairs(const float *in, unsigned int *out, long n) {
  for (long i = 0; i < n; i += 4) {
    float2 a = make_float2(in[i], in[i + 1]), b = make_float2(in[i + 2], in[i + 3]);
    out[i] = __nv_fp8x2_e4m3(a).__x;
    out[i + 1] = __nv_cvt_halfraw2_to_fp8x2(__half2_raw(__float22half2_rn(b)), __NV_SATFINITE, __NV_E5M2);
    out[i + 2] = __nv_fp8x4_e5m2(make_float4(a.x, a.y, b.x, b.y)).__x;
    float4 back = (float4)__nv_fp8x4_e4m3(__float22bfloat162_rn(a), __float22bfloat162_rn(b));
    out[i + 3] = __nv_fp8x2_e4m3(make_float2(back.w, back.x)).__x;
  }
}
"""


@cache
def values(fmt: str) -> list[Fraction]:
    """Of the patterns up to the largest finite one, and of the one that would follow."""
    found = []
    for pattern in range(LARGEST[fmt] + 2):
        field, rest = pattern >> DIGITS[fmt], pattern & (1 << DIGITS[fmt]) - 1
        significand = Fraction(rest + (1 << DIGITS[fmt]) * (field > 0), 1 << DIGITS[fmt])
        found.append(significand * Fraction(2) ** (max(field, 1) - BIAS[fmt]))
    return found


def rounded(value: float, fmt: str, is_finite: bool, of_a_double: bool = False) -> int:
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    if math.isnan(value):
        return sign | (0x7F if fmt == "e4m3" else 0x7E) if of_a_double else 0x7F
    top = LARGEST[fmt]
    above_all = sign | (top if is_finite else 0x7F if fmt == "e4m3" else 0x7C)
    if math.isinf(value):
        return above_all
    magnitude, table = abs(Fraction(value)), values(fmt)
    below = bisect.bisect_right(table, magnitude) - 1
    if below > top:
        return above_all
    twice = 2 * magnitude - table[below] - table[below + 1]
    pattern = below + (twice > 0 or (twice == 0 and below % 2 == 1))
    return sign | pattern if pattern <= top else above_all


def to_float(pattern: int, fmt: str) -> float:
    magnitude = pattern & 0x7F
    if magnitude > LARGEST[fmt]:
        is_infinite = fmt == "e5m2" and magnitude == 0x7C
        return (-math.inf if pattern & 0x80 else math.inf) if is_infinite else math.nan
    return math.copysign(float(values(fmt)[magnitude]), -1 if pattern & 0x80 else 1)


class OnVirtualGpu:
    """The functions as kernels of one thread; called as ``Program`` is."""

    def __init__(self, folder: Path, device: Device) -> None:
        (folder / "fp8.cu").write_text(_SOURCE)
        self._device = device
        self._program = compile_program(folder / "fp8.cu", arch="sm_90", define=("SIDE=__global__",))

    def call(self, name: str, *arguments: Any) -> None:
        assert self._device.launch(self._program.kernel(name), 1, 1, arguments).fault is None


@pytest.fixture(scope="module", params=["host", "virtual"])
def program(
    request: pytest.FixtureRequest, compile_cuda: CudaCompiler, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Program | OnVirtualGpu]:
    if request.param == "virtual":
        with Device() as device:
            yield OnVirtualGpu(tmp_path_factory.mktemp("fp8"), device)
        return
    compiled = compile_cuda(_SOURCE, "-DSIDE=__host__", "-ffp-contract=off", side="host")
    assert compiled.ok, compiled.errors
    yield Program(compiled.ir)


@cache
def floats() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Every value of both formats, what lies halfway to the next, what lies beside that, and others: exact as floats."""
    found = [0.0, math.inf, math.nan, 1e38, 1e-40, 448.0, 464.0, 465.0, 57344.0, 61440.0, 61441.0]
    for fmt in FORMATS:
        table = values(fmt)
        for low, high in pairwise(table):
            middle = np.float32(float((low + high) / 2))
            found += [float(low), float(middle), float(np.nextafter(middle, np.float32(0))), float(np.nextafter(middle, np.float32(1e9)))]  # fmt: skip
    wild = np.random.default_rng(1).integers(0, 1 << 32, 1000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    both = np.concatenate([np.array(found, np.float64), wild.astype(np.float64)])
    return np.concatenate([both, -both])


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("way", ["float_sat", "float_no", "double_sat", "double_no", "made_float"])
def test_rounded_once_to_nearest(program: Program, fmt: str, way: str) -> None:
    numbers = floats()
    is_double = "double" in way
    if is_double:  # what a float does not hold: a last bit beside what is halfway
        numbers = np.concatenate([numbers, np.nextafter(numbers, 0.0), np.nextafter(numbers, np.inf)])
    given = numbers if is_double else numbers.astype(np.float32)
    out = np.zeros(len(given), np.uint8)
    program.call(f"{fmt}_{way}", given, out, len(given))
    for value, got in zip(given.tolist(), out.tolist(), strict=True):
        assert got == rounded(value, fmt, not way.endswith("no"), is_double), (value, hex(got))


@pytest.mark.parametrize("fmt", FORMATS)
def test_back_to_wider_ones(program: Program, fmt: str) -> None:
    patterns = np.arange(256, dtype=np.uint8)
    halves, singles = np.zeros(256, np.uint16), np.zeros(256, np.float32)
    program.call(f"{fmt}_to_half", patterns, halves, 256)
    program.call(f"{fmt}_to_float", patterns, singles, 256)
    expected = np.array([to_float(p, fmt) for p in range(256)])
    np.testing.assert_array_equal(halves.view(np.float16).astype(np.float64), expected)
    np.testing.assert_array_equal(singles.astype(np.float64), expected)
    assert set(halves[np.isnan(expected)].tolist()) == {0x7FFF}


@pytest.mark.parametrize("fmt", FORMATS)
def test_integers_end_at_their_ends(program: Program, fmt: str) -> None:
    patterns = np.arange(256, dtype=np.uint8)
    out = np.zeros((256, 4), np.int64)
    program.call(f"{fmt}_to_integers", patterns, out, 256)
    for pattern, row in enumerate(out.tolist()):
        value = to_float(pattern, fmt)
        whole = 0 if math.isnan(value) else value
        ends = [(-128, 127), (0, 65535), (-(1 << 31), (1 << 31) - 1)]
        assert row == [*(math.trunc(max(low, min(high, whole))) for low, high in ends), int(value != 0)], hex(pattern)
    whole_numbers = np.array([0, 1, -3, 17, 23, 449, 500, -70000, 1 << 30], np.int32)
    made = np.zeros(len(whole_numbers), np.uint8)
    program.call(f"{fmt}_made_int", whole_numbers, made, len(made))
    assert made.tolist() == [rounded(float(v), fmt, True) for v in whole_numbers.tolist()]
    large = np.array([1 << 63, 25, 0], np.uint64)
    program.call(f"{fmt}_made_ull", large, made, 3)
    assert made.tolist()[:3] == [LARGEST[fmt], rounded(25.0, fmt, True), 0]


def test_two_and_four_lie_first_to_last(program: Program) -> None:
    out = np.zeros(4, np.uint32)
    program.call("pairs", np.array([1.0, -2.0, 300.0, 0.3], np.float32), out, 4)
    e4, e5 = ([rounded(v, fmt, True) for v in (1.0, -2.0, 300.0, 0.3)] for fmt in FORMATS)
    assert out.tolist() == [
        e4[0] | e4[1] << 8, e5[2] | e5[3] << 8, e5[0] | e5[1] << 8 | e5[2] << 16 | e5[3] << 24, e4[3] | e4[0] << 8,
    ]  # fmt: skip
