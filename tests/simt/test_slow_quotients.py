"""Which divisions take the slow path: those that the short code would round wrongly, whatever form a launch has; counted by warp."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]
Bits = np.ndarray[tuple[int], np.dtype[np.uint32]]

KERNELS = """
#define I (blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x)
extern "C" __global__ void every(float *a, float *b, float *o, int n) { o[I] = a[I] / b[I]; }
extern "C" __global__ void by_name(float *a, float *b, float *o, int n) { o[I] = __fdiv_rn(a[I], b[I]); }
extern "C" __global__ void guarded(float *a, float *b, float *o, int n) { int i = I; if (i % 3 != 1 && i < n) o[i] = a[i] / b[i]; }
extern "C" __global__ void by_row(float *a, float *b, float *o, int n) { o[I] = a[threadIdx.y] / b[threadIdx.y]; }
extern "C" __global__ void alike(float *a, float *b, float *o, int n) { float q = a[n] / b[n]; if (I % 3) o[I] = q; }
extern "C" __global__ void twice(float *a, float *b, float *o, int n) { o[I] = a[I] / b[I] + a[I + 1] / b[I]; }
extern "C" __global__ void other(float *a, float *b, float *o, int n) {
  o[I] = 1.0f / a[I] + (float)((double)a[I] / b[I] + 1e-9) + __fdividef(a[I], b[I]); }
"""
THREADS = 4 * 192


def numbers(seed: int, share: float) -> tuple[Array, Array]:
    """Dividends and divisors, a share of them at the edges of the range or beyond."""
    draw = np.random.default_rng(seed)
    edges = np.array([0, -0.0, np.inf, np.nan, 1e-40, 3e-38, 2e-31, 3e38, 1.5e-38], np.float32)
    found = []
    for _ in range(2):
        some = draw.standard_normal(THREADS + 32).astype(np.float32)
        some = np.where(draw.random(len(some)) < share, draw.choice(edges, len(some)), some)
        found.append(some.astype(np.float32))
    return found[0], found[1]


def is_slow(dividend: int, divisor: int) -> bool:
    """Of exponents as they are stored: a reciprocal, a remainder or a quotient that is no normal number."""
    return not (1 <= divisor <= 252 and 25 <= dividend <= 254 and -125 <= dividend - divisor <= 126)


def slow(a: Array, b: Array) -> Array:
    exponents = [(x.view(np.uint32) >> np.uint32(23) & np.uint32(255)).tolist() for x in (a, b)]
    return np.array([is_slow(n, d) for n, d in zip(*exponents, strict=True)])


SHAPES = {"wide": (4, (192, 1, 1)), "tile": (12, (8, 8, 1)), "odd": (16, (48, 1, 1))}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", ["every", "by_name", "guarded", "by_row", "alike", "twice", "other"])
def test_warps_with_a_slow_lane_are_counted(arena: Arena, cuda: Compile, kernel: str, shape: str) -> None:
    grid, block = SHAPES[shape]
    for share in (0.0, 0.01, 0.7):
        a, b = numbers(3, share)
        if kernel == "alike" and share:
            a[700] = 0
        case = Case(cuda(KERNELS), kernel, grid, block, a, b, np.zeros(THREADS + 32, np.float32), 700)
        t = np.arange(THREADS)
        row = t % (block[0] * block[1]) // block[0]
        pairs = {"by_row": [(a[row], b[row])], "alike": [(a[t * 0 + 700], b[t * 0 + 700])], "twice": [(a[t], b[t]), (a[t + 1], b[t])]}.get(
            kernel, [(a[t], b[t])]
        )  # fmt: skip
        on = (t % 3 != 1) & (t < 700) if kernel == "guarded" else np.ones(THREADS, bool)
        # A warp begins anew with each thread block.
        threads = block[0] * block[1]
        warp = t // threads * 100 + t % threads // 32
        lanes = [slow(n, d) & on & (kernel != "other") for n, d in pairs]
        warps = sum(len(np.unique(warp[each])) for each in lanes)
        for options in (o for o in case.variants() if o.counters):
            result = case.fast(arena, options).launch
            counts = [result.counts[i] for i, info in enumerate(result.kernel.blocks) if info.is_slow_path]
            total = np.sum(counts, axis=0).tolist() if counts else [0, 0]
            assert total == [warps, sum(int(each.sum()) for each in lanes)], (options, share)


def rounded(value: Fraction) -> float:
    """The nearest single, halves to the even one; infinite beyond the largest."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    found = round(size / unit) * unit
    return float("inf") if found >= Fraction(2) ** 128 else float(found) * (1 if value > 0 else -1)


def fused(a: float, b: float, c: float) -> float:
    return rounded(Fraction(a) * Fraction(b) + Fraction(c))


def short_code(n: float, d: float) -> float:
    """What machine code does before it looks at what FCHK said, with a reciprocal that is off in its last place, and nothing where it
    is no normal number."""
    r = rounded(1 / Fraction(d))
    r = float(np.nextafter(np.float32(r), np.float32(0))) if abs(r) >= 2.0**-126 else 0.0
    r = fused(r, fused(-d, r, 1.0), r)
    q = fused(n, r, 0.0)
    return fused(r, fused(-d, q, n), q)


def test_the_short_code_rounds_what_is_not_slow() -> None:
    """In exact arithmetic, mostly at the edges of what is let through."""
    draw = np.random.default_rng(1)
    checked = 0
    while checked < 3000:
        dividend = int(draw.choice([25, 26, 254, int(draw.integers(25, 255))]))
        divisor = int(draw.choice([1, 2, 251, 252, dividend + 125, dividend - 126, int(draw.integers(1, 253))]))
        if not 0 <= divisor <= 255 or is_slow(dividend, divisor):
            continue
        parts = draw.integers(0, 1 << 23, 2)
        bits = np.array([dividend << 23, divisor << 23], np.uint32) | parts.astype(np.uint32)
        n, d = (float(x) for x in bits.view(np.float32))
        assert short_code(n, d) == rounded(Fraction(n) / Fraction(d)), (n, d)
        checked += 1


def test_what_is_beyond_the_edges_the_short_code_may_round_wrongly() -> None:
    """The other side of two edges, tried until a quotient is wrong."""
    draw = np.random.default_rng(2)

    def is_wrong(dividend: int, divisor: int) -> bool:
        assert is_slow(dividend, divisor)
        parts = draw.integers(0, 1 << 23, 2)
        bits = np.array([dividend << 23, divisor << 23], np.uint32) | parts.astype(np.uint32)
        n, d = (float(x) for x in bits.view(np.float32))
        return short_code(n, d) != rounded(Fraction(n) / Fraction(d))

    for dividend, divisor in ((2, 2), (200, 254)):
        assert any(is_wrong(dividend, divisor) for _ in range(400)), (dividend, divisor)
