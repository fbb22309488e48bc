"""Vector and matrix products. Strip-mining limits are those of the paper's experiments (section 5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import maximum
from kernelwright.space.computation.family import Arrays, Family

TILES = (32, 4)


def _axpy(n: int) -> Computation:
    c = Computation("axpy")
    i = c.loop("n", n, tiles=(1024, 4))
    x, y, z = c.input("X", (n,)), c.input("Y", (n,)), c.output("Z", (n,))
    alpha = c.scalar("alpha")
    c.store("st", z[i], c.compute("mad", alpha * c.load("x", x[i]) + c.load("y", y[i])))
    return c


def _matmul(
    m: int,
    n: int,
    k: int,
    *,
    stride: int = 1,
    a_transposed: bool = False,
    b_transposed: bool = False,
    fused: bool = False,
) -> Computation:
    """``C = A B``, row by row; ``stride``: elements between neighbours in a row of A."""
    c = Computation("matmul")
    i, j, p = c.loop("m", m, TILES), c.loop("n", n, TILES), c.loop("k", k, (min(32, max(k // 2, 1)),))
    a = c.input("A", (m, k), (stride, m * stride) if a_transposed else (k * stride, stride))
    b = c.input("B", (k, n), (1, k) if b_transposed else (n, 1))
    out = c.output("C", (m, n))
    bias = c.input("bias", (n,)) if fused else None
    total = c.sum("mad", c.load("a", a[i, p]) * c.load("b", b[p, j]), over=p)
    if bias is not None:
        total = c.compute("act", maximum(total + c.load("bias_n", bias[j]), 0.0))
    c.store("st", out[i, j], total)
    return c


def _mv(m: int, n: int) -> Computation:
    c = Computation("mv")
    i, j = c.loop("m", m, (128, 16)), c.loop("n", n, (128,))
    a, x, y = c.input("A", (m, n)), c.input("X", (n,)), c.output("Y", (m,))
    c.store("st", y[i], c.sum("mad", c.load("a", a[i, j]) * c.load("x", x[j]), over=j))
    return c


def _gesummv(m: int, n: int) -> Computation:
    """``y = alpha A x + beta B x``, one pass over x."""
    c = Computation("gesummv")
    i, j = c.loop("m", m, (128, 16)), c.loop("n", n, (128,))
    a, b, x, y = c.input("A", (m, n)), c.input("B", (m, n)), c.input("X", (n,)), c.output("Y", (m,))
    alpha, beta = c.scalar("alpha"), c.scalar("beta")
    value = c.load("x", x[j])
    first = c.sum("ax", c.load("a", a[i, j]) * value, over=j)
    second = c.sum("bx", c.load("b", b[i, j]) * value, over=j)
    c.store("st", y[i], alpha * first + beta * second)
    return c


def _outer(m: int, n: int) -> Computation:
    c = Computation("outer")
    i, j = c.loop("m", m, TILES), c.loop("n", n, TILES)
    a, b, out = c.input("A", (m,)), c.input("B", (n,)), c.output("C", (m, n))
    c.store("st", out[i, j], c.compute("mul", c.load("a", a[i]) * c.load("b", b[j])))
    return c


def _batchmm(batch: int, m: int, n: int, k: int) -> Computation:
    c = Computation("batchmm")
    z = c.loop("z", batch, (128,))
    i, j, p = c.loop("m", m, (64,)), c.loop("n", n, (64,)), c.loop("k", k, (64,))
    a, b, out = c.input("A", (batch, m, k)), c.input("B", (batch, k, n)), c.output("C", (batch, m, n))
    c.store("st", out[z, i, j], c.sum("mad", c.load("a", a[z, i, p]) * c.load("b", b[z, p, j]), over=p))
    return c


def _fused2mm(m: int, n: int, k: int, p: int) -> Computation:
    """``E = alpha A B C + beta D``; the first product stays on the chip or is computed again."""
    c = Computation("fused2mm")
    i, j, r, s = c.loop("m", m, TILES), c.loop("n", n, TILES), c.loop("k", k, (32,)), c.loop("p", p, (32,))
    a, b, cc = c.input("A", (m, k)), c.input("B", (k, p)), c.input("C", (p, n))
    d, out = c.input("D", (m, n)), c.output("E", (m, n))
    alpha, beta = c.scalar("alpha"), c.scalar("beta")
    first = c.sum("ab", c.load("a", a[i, r]) * c.load("b", b[r, s]), over=r)
    second = c.sum("abc", first * c.load("c", cc[s, j]), over=s)
    c.store("st", out[i, j], alpha * second + beta * c.load("d", d[i, j]))
    return c


def _product(arrays: Arrays, scalars: Mapping[str, float]) -> dict[str, np.ndarray]:
    return {"C": arrays["A"] @ arrays["B"]}


MATRIX = {"m": 1024, "n": 1024, "k": 1024}

EXAMPLES = (
    Family("axpy", {"n": 1 << 26}, _axpy, lambda a, s: {"Z": s["alpha"] * a["X"] + a["Y"]}, {"alpha": 1.5}),
    Family("mv", {"m": 8192, "n": 8192}, _mv, lambda a, s: {"Y": a["A"] @ a["X"]}, {}),
    Family(
        "gesummv",
        {"m": 8192, "n": 8192},
        _gesummv,
        lambda a, s: {"Y": s["alpha"] * a["A"] @ a["X"] + s["beta"] * a["B"] @ a["X"]},
        {"alpha": 1.5, "beta": -0.5},
    ),
    Family("outer", {"m": 4096, "n": 4096}, _outer, lambda a, s: {"C": np.outer(a["A"], a["B"])}, {}),
    Family("matmul", MATRIX, _matmul, _product, {}),
    Family("matmul_strided", MATRIX, lambda m, n, k: _matmul(m, n, k, stride=32), _product, {}),
    Family("matmul_at", MATRIX, lambda m, n, k: _matmul(m, n, k, a_transposed=True), _product, {}),
    Family("matmul_bt", MATRIX, lambda m, n, k: _matmul(m, n, k, b_transposed=True), _product, {}),
    Family(
        "matmul_fused",
        MATRIX,
        lambda m, n, k: _matmul(m, n, k, fused=True),
        lambda a, s: {"C": np.maximum(a["A"] @ a["B"] + a["bias"], 0)},
        {},
    ),
    Family("batchmm", {"batch": 512, "m": 32, "n": 32, "k": 64}, _batchmm, _product, {}),
    Family(
        "fused2mm",
        {"m": 256, "n": 256, "k": 256, "p": 256},
        _fused2mm,
        lambda a, s: {"E": s["alpha"] * (a["A"] @ a["B"] @ a["C"]) + s["beta"] * a["D"]},
        {"alpha": 1.5, "beta": -0.5},
    ),
)
