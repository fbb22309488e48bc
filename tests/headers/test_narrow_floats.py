"""half and bfloat16 round and compare as their formats say: in the code for the host, in that for a device without bfloat16
instructions (run on this machine), and on the virtual GPU in that for one that has them.

The oracle is exact arithmetic on fractions, and NumPy's float16 where it has the operation.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from kernelwright import Device
from kernelwright import compile as compile_program

from .conftest import CudaCompiler, Pass
from .jit import Program

Format = Literal["half", "bfloat16"]
FORMATS: tuple[Format, ...] = ("half", "bfloat16")
INFINITY = {"half": 0x7C00, "bfloat16": 0x7F80}


@cache
def _values(fmt: Format) -> list[float]:
    """What each pattern stands for: exactly, because a double holds all of either format."""
    patterns = np.arange(1 << 16, dtype=np.uint32)
    values = patterns.astype(np.uint16).view(np.float16) if fmt == "half" else (patterns << 16).view(np.float32)
    found: list[float] = values.tolist()
    return found


def to_float(pattern: int, fmt: Format) -> float:
    return _values(fmt)[pattern]


def rounded(value: Fraction | float, fmt: Format, mode: str) -> int:
    """The pattern of the value rounded: rn nearest even, rz towards zero, ru up, rd down."""
    if isinstance(value, float):
        if math.isnan(value):
            return 0x7FFF
        if math.isinf(value):
            return INFINITY[fmt] | (0x8000 if value < 0 else 0)
        sign = 0x8000 if math.copysign(1, value) < 0 else 0
        value = Fraction(value)
    else:
        sign = 0x8000 if value < 0 else 0
    magnitude, table = abs(value), _values(fmt)
    # The double next to the magnitude lies on the same side of every value of the format, or is that value.
    below = bisect.bisect_right(table, float(magnitude), 0, INFINITY[fmt]) - 1
    below -= table[below] > magnitude
    if table[below] == magnitude:
        return sign | below
    away = {"ru": not sign, "rd": bool(sign), "rz": False}.get(mode)
    if away is None:
        low, last = Fraction(table[below]), INFINITY[fmt] - 1
        above = Fraction(table[below + 1]) if below < last else 2 * low - Fraction(table[last - 1])
        twice = 2 * magnitude - low - above
        away = twice > 0 or (twice == 0 and below % 2 == 1)
    return sign | (below + away)


_SOURCE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define LOOP(name, from, value) extern "C" SIDE void name(const from *in, unsigned short *out, long n) \\
  { for (long i = 0; i < n; i++) { from x = in[i]; out[i] = (value).__x; } }
#define LOOP3(name, T, value) extern "C" SIDE void name(const T *as, const T *bs, const T *cs, T *out, long n) \\
  { for (long i = 0; i < n; i++) { T a = as[i], b = bs[i], c = cs[i]; out[i] = value; } }
#define COMPARE(name, T, value) extern "C" SIDE void name(const T *as, const T *bs, unsigned short *out, long n) \\
  { for (long i = 0; i < n; i++) { T a = as[i], b = bs[i]; out[i] = value; } }
#define FORMAT(kind, T, T2) \\
  LOOP(kind##_float_rn, float, __float2##kind##_rn(x)) LOOP(kind##_float_rz, float, __float2##kind##_rz(x)) \\
  LOOP(kind##_float_ru, float, __float2##kind##_ru(x)) LOOP(kind##_float_rd, float, __float2##kind##_rd(x)) \\
  LOOP(kind##_double_rn, double, __double2##kind(x)) LOOP(kind##_int_rn, int, T(x)) \\
  LOOP(kind##_ll_rn, long long, T(x)) LOOP(kind##_ull_rn, unsigned long long, T(x)) \\
  extern "C" SIDE void kind##_to_float(const unsigned short *in, float *out, long n) \\
    { for (long i = 0; i < n; i++) out[i] = __##kind##2float(__ushort_as_##kind(in[i])); } \\
  LOOP3(kind##_add, T, a + b) LOOP3(kind##_sub, T, a - b) LOOP3(kind##_mul, T, a * b) LOOP3(kind##_div, T, a / b) \\
  LOOP3(kind##_fma, T, __hfma(a, b, c)) LOOP3(kind##_neg, T, -a) LOOP3(kind##_abs, T, __habs(a)) \\
  LOOP3(kind##_sat, T, __hadd_sat(a, b)) LOOP3(kind##_min, T, __hmin(a, b)) LOOP3(kind##_max, T, __hmax(a, b)) \\
  LOOP3(kind##_min_nan, T, __hmin_nan(a, b)) LOOP3(kind##_max_nan, T, __hmax_nan(a, b)) \\
  LOOP3(kind##_pair_add, T2, a + b) LOOP3(kind##_pair_fma, T2, __hfma2(a, b, c)) LOOP3(kind##_relu, T, __hfma_relu(a, b, c)) \\
  COMPARE(kind##_eq, T, __heq(a, b)) COMPARE(kind##_ne, T, __hne(a, b)) COMPARE(kind##_lt, T, __hlt(a, b)) \\
  COMPARE(kind##_geu, T, __hgeu(a, b)) COMPARE(kind##_equ, T, __hequ(a, b)) COMPARE(kind##_neu, T, a != b) \\
  COMPARE(kind##_isnan, T, __hisnan(a)) COMPARE(kind##_isinf, T, (unsigned short)__hisinf(a))
FORMAT(half, __half, __half2)
FORMAT(bfloat16, __nv_bfloat16, __nv_bfloat162)
"""


class OnVirtualGpu:
    """The functions as kernels of one thread, for sm_80; called as ``Program`` is."""

    def __init__(self, folder: Path, device: Device) -> None:
        source = folder / "narrow.cu"
        source.write_text(_SOURCE)
        self._device = device
        self._program = compile_program(source, arch="sm_80", define=("SIDE=__global__",))

    def call(self, name: str, *arguments: Any) -> None:
        done = self._device.launch(self._program.kernel(name), 1, 1, arguments)
        assert done.fault is None


@pytest.fixture(scope="module", params=["device", "host", "virtual"])
def program(
    request: pytest.FixtureRequest, compile_cuda: CudaCompiler, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Program | OnVirtualGpu]:
    if request.param == "virtual":
        with Device() as device:
            yield OnVirtualGpu(tmp_path_factory.mktemp("narrow"), device)
        return
    side: Pass = request.param
    compiled = compile_cuda(_SOURCE, f"-DSIDE=__{side}__", "-ffp-contract=off", side=side, arch="sm_75")
    assert compiled.ok, compiled.errors
    yield Program(compiled.ir)


@pytest.fixture
def side(request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["program"])


@pytest.fixture
def has_fma(side: str) -> Callable[[str], bool]:
    """The device's fused multiply-add of halves is one instruction, which this machine does not have."""
    return lambda fmt: fmt != "half" or side != "device"


@cache
def _floats() -> np.ndarray[Any, np.dtype[np.float32]]:
    rng = np.random.default_rng(3)
    near: list[float] = []
    for fmt in FORMATS:
        some = rng.integers(0, INFINITY[fmt] - 1, 700)
        for p in some.tolist():  # a value, the midpoint above it, and the floats around that
            low, high = to_float(p, fmt), to_float(p + 1, fmt)
            middle = np.float32((low + high) / 2)
            near += [
                low,
                *(
                    float(m)
                    for m in (middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf)))
                ),
            ]
    special = [
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        65504,
        65519.99,
        65520,
        65536,
        3.3e38,
        3.4e38,
        1e-8,
        2.9e-8,
        5e-46,
    ]
    wild = rng.integers(0, 1 << 32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    values = np.concatenate([np.array(near + special, np.float32), wild])
    return np.concatenate([values, -values]).astype(np.float32)


def _check(got: np.ndarray[Any, Any], expected: list[int], inputs: Iterable[Any], fmt: Format) -> None:
    for pattern, wanted, value in zip(got.tolist(), expected, inputs, strict=True):
        is_nan = (wanted & 0x7FFF) > INFINITY[fmt]
        assert pattern == wanted or (is_nan and (pattern & 0x7FFF) > INFINITY[fmt]), (value, hex(pattern), hex(wanted))


@cache
def _floats_rounded(fmt: Format, mode: str) -> list[int]:
    return [rounded(v, fmt, mode) for v in _floats().tolist()]


@pytest.mark.parametrize("mode", ["rn", "rz", "ru", "rd"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_from_float(fmt: Format, mode: str, program: Program) -> None:
    values = _floats()
    out = np.zeros(len(values), np.uint16)
    program.call(f"{fmt}_float_{mode}", values, out, len(values))
    expected = _floats_rounded(fmt, mode)
    if mode == "rd" or mode == "ru" or mode == "rz":  # an infinity is never made smaller
        assert all(e & 0x7FFF <= INFINITY[fmt] or math.isnan(v) for e, v in zip(expected, values.tolist(), strict=True))
    _check(out, expected, values.tolist(), fmt)


@cache
def _doubles(fmt: Format) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Doubles that show whether they were rounded to float first, and what they round to."""
    rng = np.random.default_rng(4)
    patterns = rng.integers(0, INFINITY[fmt] - 1, 3000).tolist()
    middles = np.array([(to_float(p, fmt) + to_float(p + 1, fmt)) / 2 for p in patterns])
    # Just off the midpoint by less than a float can tell: rounding to float first would make it a tie.
    values = np.concatenate(
        [np.nextafter(middles, 0), np.nextafter(middles, np.inf), middles, [1e300, -1e300, 0.0, -0.0]]
    )
    # Between a midpoint and the next float, nearer to that: to even it would fall back on the midpoint.
    gaps = np.spacing(middles.astype(np.float32)).astype(np.float64)
    values = np.concatenate([values, middles + 0.75 * gaps, middles - 0.3 * gaps])
    values = np.concatenate([values, -values])
    return values, [rounded(v, fmt, "rn") for v in values.tolist()]


@pytest.mark.parametrize("fmt", FORMATS)
def test_from_double_without_rounding_twice(fmt: Format, program: Program) -> None:
    values, expected = _doubles(fmt)
    out = np.zeros(len(values), np.uint16)
    program.call(f"{fmt}_double_rn", values, out, len(values))
    _check(out, expected, values.tolist(), fmt)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(("name", "kind"), [("int", np.int32), ("ll", np.int64), ("ull", np.uint64)])
def test_from_integers(fmt: Format, name: str, kind: type[Any], program: Program) -> None:
    rng = np.random.default_rng(5)
    info = np.iinfo(kind)
    wide = rng.integers(info.min, info.max, 2000, dtype=kind, endpoint=True)
    ties = [
        s * ((m * 2 + 1 << e) + d)
        for m in range(128, 256, 9)
        for e in range(0, 55, 3)
        for d in (-1, 0, 1)
        for s in (1, -1)
    ]
    values = np.concatenate(
        [wide, np.array([*(t for t in ties if info.min <= t <= info.max), info.min, info.max], kind)]
    )
    assert values.dtype == kind  # by way of double they would lose their last bits
    out = np.zeros(len(values), np.uint16)
    program.call(f"{fmt}_{name}_rn", values, out, len(values))
    _check(out, [rounded(Fraction(v), fmt, "rn") for v in values.tolist()], values.tolist(), fmt)


@pytest.mark.parametrize("fmt", FORMATS)
def test_to_float_is_exact(fmt: Format, program: Program) -> None:
    patterns = np.arange(65536, dtype=np.uint16)
    out = np.zeros(65536, np.float32)
    program.call(f"{fmt}_to_float", patterns, out, 65536)
    expected = np.array([to_float(p, fmt) for p in range(65536)], np.float32)
    assert np.array_equal(np.isnan(out), np.isnan(expected))
    known = ~np.isnan(expected)
    assert np.array_equal(out[known].view(np.uint32), expected[known].view(np.uint32))


def _operands(fmt: Format, seed: int, count: int = 2000) -> list[np.ndarray[Any, np.dtype[np.uint16]]]:
    rng = np.random.default_rng(seed)
    special = np.array(
        [0, 0x8000, 1, 0x8001, INFINITY[fmt], INFINITY[fmt] | 0x8000, 0x7FFF, INFINITY[fmt] - 1], np.uint16
    )
    found = []
    for _ in range(3):
        # Exponents close to each other, so that sums and products stay in range.
        middle = 0x3C00 if fmt == "half" else 0x3F80
        words = (middle + rng.integers(-0x0C00, 0x0C00, count)).astype(np.uint16) | (
            rng.integers(0, 2, count) << 15
        ).astype(np.uint16)
        odd = rng.random(count) < 0.15
        words[odd] = rng.choice(special, int(odd.sum()))
        found.append(words.astype(np.uint16))
    return found


_EXACT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "div": lambda a, b, c: a / b,
    "fma": lambda a, b, c: a * b + c,
}


def _exact(name: str, a: float, b: float, c: float) -> Fraction | float:
    """The exact result; IEEE's own, by double arithmetic, where that is a zero, an infinity or not a number."""
    used = (a, b, c) if name == "fma" else (a, b)
    if all(map(math.isfinite, used)) and not (name == "div" and b == 0):
        exact: Fraction = _EXACT[name](*(Fraction(v) for v in used), *([None] * (3 - len(used))))
        if exact:
            return exact
    with np.errstate(all="ignore"):
        return float(_EXACT[name](np.float64(a), np.float64(b), np.float64(c)))


@cache
def _rounded_results(fmt: Format, name: str) -> tuple[list[tuple[float, ...]], list[int]]:
    """The operands of seed 11 as numbers, and what the operation makes of them."""
    patterns = (words.tolist() for words in _operands(fmt, 11))
    values = [tuple(to_float(p, fmt) for p in row) for row in zip(*patterns, strict=True)]
    return values, [rounded(_exact(name, *row), fmt, "rn") for row in values]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "fma"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_arithmetic_rounds_once(
    fmt: Format, name: str, program: Program, has_fma: Callable[[str], bool], side: str
) -> None:
    if name == "fma" and not has_fma(fmt):
        pytest.skip("one instruction of the GPU")
    a, b, c = _operands(fmt, 11)
    out = np.zeros(len(a), np.uint16)
    program.call(f"{fmt}_{name}", a, b, c, out, len(a))
    values, expected = _rounded_results(fmt, name)
    if (
        fmt == "bfloat16" and name == "fma" and side != "virtual"
    ):  # rounds twice, as its header says: by one last bit, and rarely
        numbers = [(g, e) for g, e in zip(out.tolist(), expected, strict=True) if (e & 0x7FFF) <= INFINITY[fmt]]
        assert max(abs(g - e) for g, e in numbers) <= 1
        assert sum(g != e for g, e in numbers) < 5
        return
    _check(out, expected, values, fmt)


@pytest.mark.parametrize("fmt", FORMATS)
def test_pairs_are_two_scalars(fmt: Format, program: Program, has_fma: Callable[[str], bool]) -> None:
    a, b, c = _operands(fmt, 12)
    for name in ("add", "fma") if has_fma(fmt) else ("add",):
        pairs, scalars = np.zeros(len(a), np.uint16), np.zeros(len(a), np.uint16)
        program.call(f"{fmt}_pair_{name}", a, b, c, pairs, len(a) // 2)
        program.call(f"{fmt}_{name}", a, b, c, scalars, len(a))
        _check(pairs, scalars.tolist(), zip(a, b, c, strict=True), fmt)


@pytest.mark.parametrize("fmt", FORMATS)
def test_comparisons_minima_and_signs(fmt: Format, program: Program) -> None:
    a, b, c = _operands(fmt, 13)
    a[:200] = b[:200]  # equal operands must occur
    rows = [(to_float(p, fmt), to_float(q, fmt), p, q) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    is_nan = [math.isnan(x) or math.isnan(y) for x, y, _, _ in rows]
    comparisons: dict[str, list[int]] = {
        "eq": [x == y for x, y, _, _ in rows],
        "ne": [x != y and not n for (x, y, _, _), n in zip(rows, is_nan, strict=True)],
        "neu": [x != y for x, y, _, _ in rows],
        "lt": [x < y for x, y, _, _ in rows],
        "geu": [x >= y or n for (x, y, _, _), n in zip(rows, is_nan, strict=True)],
        "equ": [x == y or n for (x, y, _, _), n in zip(rows, is_nan, strict=True)],
        "isnan": [math.isnan(x) for x, _, _, _ in rows],
        "isinf": [0xFFFF * (x == -math.inf) + (x == math.inf) for x, _, _, _ in rows],
    }
    for name, wanted in comparisons.items():
        out = np.zeros(len(a), np.uint16)
        program.call(f"{fmt}_{name}", a, b, out, len(a))
        assert out.tolist() == [int(w) for w in wanted], name

    def order(pattern: int) -> int:  # -0 below +0
        return -(pattern & 0x7FFF) - 1 if pattern & 0x8000 else pattern

    def extreme(best: Any, nan_wins: bool) -> list[int]:
        found = []
        for x, y, p, q in rows:
            numbers = [w for v, w in ((x, p), (y, q)) if not math.isnan(v)]
            found.append(0x7FFF if not numbers or (nan_wins and len(numbers) < 2) else best(numbers, key=order))
        return found

    expected: dict[str, list[int]] = {
        "min": extreme(min, False),
        "max": extreme(max, False),
        "min_nan": extreme(min, True),
        "max_nan": extreme(max, True),
        "neg": (a ^ 0x8000).tolist(),
        "abs": (a & 0x7FFF).tolist(),
    }
    for name, patterns in expected.items():
        out = np.zeros(len(a), np.uint16)
        program.call(f"{fmt}_{name}", a, b, c, out, len(a))
        assert out.tolist() == patterns, name


@pytest.mark.parametrize("fmt", FORMATS)
def test_saturate_and_rectify(fmt: Format, program: Program, has_fma: Callable[[str], bool]) -> None:
    a, b, c = _operands(fmt, 14)
    one = 0x3C00 if fmt == "half" else 0x3F80
    arrays = {"fma": np.zeros(0, np.uint16), "relu": np.zeros(0, np.uint16)}
    for name in ("add", "sat", "fma", "relu") if has_fma(fmt) else ("add", "sat"):
        arrays[name] = np.zeros(len(a), np.uint16)
        program.call(f"{fmt}_{name}", a, b, c, arrays[name], len(a))
    for plain, saturated in zip(arrays["add"].tolist(), arrays["sat"].tolist(), strict=True):
        value = to_float(plain, fmt)
        assert saturated == (one if value >= 1 else plain if value > 0 else 0)
    for plain, rectified in zip(arrays["fma"].tolist(), arrays["relu"].tolist(), strict=True):
        assert to_float(rectified, fmt) == max(to_float(plain, fmt), 0.0) or math.isnan(to_float(plain, fmt))
