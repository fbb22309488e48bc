"""Level 2 of BLAS: a matrix and vectors. With beta == 0 what is written is not read, with alpha == 0 the rest is not."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.number_types import REAL_PART, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number, Operand
from kernelwright.device.libraries.triangles import UPPER, operated, solve, store_triangle, symmetric, triangular


def scaled(beta: Number, t: NumberType, into: Operand) -> Array:
    """beta times what is there; zeros, with nothing read, where beta is 0."""
    b = beta.value(t)
    return np.zeros(into.stored.shape, into.type.compute) if b == 0 else b * into.load()


def gemv(
    call: Call, t: NumberType, trans: int, m: int, n: int, alpha: Number, a: int, lda: int, x: int, incx: int, beta: Number,
    y: int, incy: int,
) -> None:  # fmt: skip
    """y = alpha op(A) x + beta y"""
    rows, columns = (m, n) if trans == 0 else (n, m)
    matrix, xs = call.matrix("A", a, m, n, lda, t), call.vector("x", x, columns, incx, t)
    ys = call.vector("y", y, rows, incy, t, reads=beta.value(t) != 0, writes=True)
    call.work(t, m * n)
    factor = alpha.value(t)
    made = scaled(beta, t, ys)
    if factor != 0:
        made = made + factor * (operated(matrix.load(), trans) @ xs.load())
    ys.store(made)


def symv(
    call: Call, t: NumberType, uplo: int, n: int, alpha: Number, a: int, lda: int, x: int, incx: int, beta: Number, y: int,
    incy: int,
) -> None:  # fmt: skip
    """y = alpha A x + beta y, of a symmetric or (hemv) Hermitian A"""
    matrix, xs = call.matrix("A", a, n, n, lda, t), call.vector("x", x, n, incx, t)
    ys = call.vector("y", y, n, incy, t, reads=beta.value(t) != 0, writes=True)
    call.work(t, n * n)
    factor = alpha.value(t)
    made = scaled(beta, t, ys)
    if factor != 0:
        made = made + factor * (symmetric(matrix.load(), uplo, call.name.endswith("hemv")) @ xs.load())
    ys.store(made)


def ger(
    call: Call, t: NumberType, m: int, n: int, alpha: Number, x: int, incx: int, y: int, incy: int, a: int, lda: int
) -> None:
    """A = alpha x y^T + A, or (gerc) with y conjugated"""
    factor = alpha.value(t)
    if factor == 0:
        return
    xs, ys = call.vector("x", x, m, incx, t).load(), call.vector("y", y, n, incy, t).load()
    matrix = call.matrix("A", a, m, n, lda, t, writes=True)
    call.work(t, m * n)
    matrix.store(matrix.load() + factor * np.outer(xs, ys.conj() if call.name.endswith("gerc") else ys))


def syr(call: Call, t: NumberType, uplo: int, n: int, alpha: Number, x: int, incx: int, a: int, lda: int) -> None:
    """A = alpha x x^T + A, or (her) x x^H with a real alpha, in one triangle"""
    is_hermitian = call.name.endswith("her")
    factor = alpha.value(REAL_PART[t.name] if is_hermitian else t)
    if factor == 0:
        return
    xs = call.vector("x", x, n, incx, t).load()
    _update(call, t, uplo, n, factor * np.outer(xs, xs.conj() if is_hermitian else xs), a, lda, is_hermitian)


def syr2(
    call: Call, t: NumberType, uplo: int, n: int, alpha: Number, x: int, incx: int, y: int, incy: int, a: int, lda: int
) -> None:
    """A = alpha (x y^T + y x^T) + A, or (her2) alpha x y^H + conj(alpha) y x^H + A, in one triangle"""
    is_hermitian = call.name.endswith("her2")
    factor = alpha.value(t)
    if factor == 0:
        return
    xs, ys = call.vector("x", x, n, incx, t).load(), call.vector("y", y, n, incy, t).load()
    product = factor * np.outer(xs, ys.conj() if is_hermitian else ys)
    _update(call, t, uplo, n, product + (product.conj().T if is_hermitian else product.T), a, lda, is_hermitian)


def _update(call: Call, t: NumberType, uplo: int, n: int, change: Array, a: int, lda: int, is_hermitian: bool) -> None:
    matrix = call.matrix("A", a, n, n, lda, t, writes=True)
    call.work(t, n * n / 2)
    made = matrix.load() + change
    if is_hermitian:
        np.fill_diagonal(made, np.diag(made).real)
    store_triangle(matrix.stored, made, uplo)


def trmv(
    call: Call, t: NumberType, uplo: int, trans: int, diagonal: int, n: int, a: int, lda: int, x: int, incx: int
) -> None:
    """x = op(A) x, of a triangular A"""
    matrix, xs = call.matrix("A", a, n, n, lda, t), call.vector("x", x, n, incx, t, writes=True)
    call.work(t, n * n / 2)
    xs.store(operated(triangular(matrix.load(), uplo, diagonal), trans) @ xs.load())


def trsv(
    call: Call, t: NumberType, uplo: int, trans: int, diagonal: int, n: int, a: int, lda: int, x: int, incx: int
) -> None:
    """x = op(A)^-1 x, of a triangular A"""
    matrix, xs = call.matrix("A", a, n, n, lda, t), call.vector("x", x, n, incx, t, writes=True)
    call.work(t, n * n / 2)
    triangle = operated(triangular(matrix.load(), uplo, diagonal), trans)
    xs.store(solve(triangle, (uplo != UPPER) == (trans == 0), xs.load()[:, None])[:, 0])
