"""Matrices of a warp (mma.h): both executors against NumPy, in every shape, type and layout."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.ir import Module
from tests.simt.harness import Array, Case

Compile = Callable[[str], Module]
TYPES = {
    "half": ("__half", np.float16, "float", np.float32),
    "half, half": ("__half", np.float16, "__half", np.float16),
    "bf16": ("__nv_bfloat16", np.uint16, "float", np.float32),
    "tf32": ("precision::tf32", np.float32, "float", np.float32),
    "s8": ("signed char", np.int8, "int", np.int32),
    "u8": ("unsigned char", np.uint8, "int", np.int32),
    "double": ("double", np.float64, "double", np.float64),
}
"""In the source and in NumPy: factors, then sums."""
WIDE = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
SHAPES = dict.fromkeys(TYPES, WIDE) | {"tf32": [(16, 16, 8)], "double": [(8, 8, 4)]}
SOURCE = r"""
#include <mma.h>
using namespace nvcuda::wmma;
template <int m, int n, int k, class A, class C, class LA, class LB, class P>
__device__ void product(const P *a, const P *b, const C *c, C *d, layout_t layout, bool saturate) {
  fragment<matrix_a, m, n, k, A, LA> fa;
  fragment<matrix_b, m, n, k, A, LB> fb;
  fragment<accumulator, m, n, k, C> fc, fd;
  bool rows = __is_same(LA, row_major), columns = !__is_same(LB, row_major);
  load_matrix_sync(fa, a, rows ? k + 8 : m + 8);
  load_matrix_sync(fb, b, columns ? k + 8 : n + 8);
  load_matrix_sync(fc, c, layout == mem_row_major ? n + 4 : m + 4, layout);
  mma_sync(fd, fa, fb, fc, saturate);
  store_matrix_sync(d, fd, layout == mem_row_major ? n + 4 : m + 4, layout);
}
"""


def kernel(name: str, m: int, n: int, k: int, a: str, c: str, stored: str, by_rows: bool) -> str:
    layouts = ("row_major", "col_major") if by_rows else ("col_major", "row_major")
    layout = "mem_row_major" if by_rows else "mem_col_major"
    return f"""
extern "C" __global__ void {name}(const {stored} *a, const {stored} *b, const {c} *c, {c} *d, int saturate) {{
  product<{m}, {n}, {k}, {a}, {c}, {", ".join(layouts)}>(a, b, c, d, {layout}, saturate);
}}"""


def padded(values: Array, by_rows: bool, room: int) -> Array:
    """Row by row or column by column, each followed by ``room`` others."""
    lines = values if by_rows else values.T
    return np.ascontiguousarray(np.pad(lines, ((0, 0), (0, room)), constant_values=1)).reshape(-1)


def bfloat(values: Array) -> Array:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def unpadded(found: Array, m: int, n: int, by_rows: bool) -> Array:
    lines = found.reshape((m, n + 4) if by_rows else (n, m + 4))
    return lines[:, :-4] if by_rows else lines[:, :-4].T


@pytest.mark.parametrize("name", TYPES)
def test_products(cuda: Compile, arena: Arena, name: str) -> None:
    a_type, a_kind, c_type, c_kind = TYPES[name]
    stored = "float" if name == "tf32" else a_type
    cases = [(shape, by_rows) for shape in SHAPES[name] for by_rows in (True, False)]
    text = "".join(kernel(f"k{i}", *shape, a_type, c_type, stored, by) for i, (shape, by) in enumerate(cases))
    module = cuda(SOURCE + text)
    rng = np.random.default_rng(6)
    for i, ((m, n, k), by_rows) in enumerate(cases):
        low, high = (0, 200) if name == "u8" else (-100, 100) if name == "s8" else (-8, 8)
        a, b = rng.integers(low, high, (m, k)), rng.integers(low, high, (k, n))
        c = rng.integers(-50, 50, (m, n))
        want = a @ b + c
        put = bfloat if name == "bf16" else lambda v: v.astype(a_kind)
        made = Case(
            module, f"k{i}", 1, 32, padded(put(a), by_rows, 8), padded(put(b), not by_rows, 8),
            padded(c.astype(c_kind), by_rows, 4), padded(np.zeros((m, n), c_kind), by_rows, 4), 0,
        )  # fmt: skip
        found = made.agree(arena, options=made.variants()[:2]).arrays[3]
        assert np.array_equal(unpadded(found, m, n, by_rows).astype(np.int64), want), (m, n, k, by_rows)


def test_sums_that_are_too_large(cuda: Compile, arena: Arena) -> None:
    module = cuda(SOURCE + kernel("k", 16, 16, 16, "signed char", "int", "signed char", True))
    ones = np.full((16, 16), 100, np.int8)
    c = np.full((16, 16), 2**31 - 100, np.int32)
    for saturate in (0, 1):
        made = Case(
            module, "k", 1, 32, padded(ones, True, 8), padded(ones, False, 8), padded(c, True, 4), padded(0 * c, True, 4),
            saturate,
        )  # fmt: skip
        found = unpadded(made.agree(arena, options=made.variants()[:1]).arrays[3], 16, 16, True)
        wrapped = (2**31 - 100 + 160_000 + 2**31) % 2**32 - 2**31
        assert set(found.reshape(-1).tolist()) == {2**31 - 1 if saturate else wrapped}


def test_what_a_tf32_keeps(cuda: Compile, arena: Arena) -> None:
    module = cuda(
        "#include <mma.h>\n"
        'extern "C" __global__ void k(float *p) { p[threadIdx.x] = nvcuda::wmma::__float_to_tf32(p[threadIdx.x]); }'
    )
    values = np.random.default_rng(7).normal(size=32).astype(np.float32)
    values[:4] = [1 + 2**-11, 1 + 2**-11 - 2**-20, np.inf, -1 - 2**-11]
    # To 10 bits behind the point, halves away from zero.
    exponent = np.exp2(np.floor(np.log2(np.abs(values, where=np.isfinite(values), out=np.ones_like(values)))) - 10)
    want = np.where(np.isfinite(values), np.sign(values) * np.floor(np.abs(values) / exponent + 0.5) * exponent, values)
    made = Case(module, "k", 1, 32, values)
    assert np.array_equal(made.agree(arena).arrays[0], want.astype(np.float32))
