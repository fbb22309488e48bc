"""cuSOLVER's Cholesky and LU factorisations, and systems of equations with the factors.

NumPy computes a Cholesky factor in double precision, also of floats; ``devInfo`` is LAPACK's.
"""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.dense.devinfo import dev_info
from kernelwright.device.libraries.lu_factors import factorise, order_of_rows, solve_with_factors
from kernelwright.device.libraries.number_types import I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.libraries.triangles import UNIT, UPPER, solve, store_triangle, symmetric, triangular

# ---- Cholesky factors ----


def cholesky(a: Array, uplo: int) -> tuple[Array, int]:
    """A = L L^H of the matrix of which ``a`` holds a triangle: L in double precision, and 0, or the order of the leading minor that is not
    positive definite; L then has its columns before that."""
    whole = symmetric(a, uplo, is_hermitian=True)
    whole = whole.astype(np.result_type(whole, np.float64))
    try:
        lower = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        return _columns_until_it_fails(whole)
    # A diagonal with NaN is no error to every LAPACK.
    return (lower, 0) if np.isfinite(np.diag(lower)).all() else _columns_until_it_fails(whole)


def _columns_until_it_fails(whole: Array) -> tuple[Array, int]:
    lower: Array = np.tril(whole)
    for j in range(len(lower)):
        before = lower[j, :j].conj()
        pivot = lower[j, j].real - np.vdot(before, before).real
        if not pivot > 0:
            lower[j, j] = pivot
            return lower, j + 1
        lower[j, j] = np.sqrt(pivot)
        lower[j + 1 :, j] = (lower[j + 1 :, j] - lower[j + 1 :, :j] @ before) / lower[j, j]
    return lower, 0


def lower_factor(factor: Array, uplo: int) -> Array:
    """L, from the triangle that potrf left: L itself, or U = L^H."""
    found = triangular(factor, uplo, 1 - UNIT)
    return found.conj().T if uplo == UPPER else found


def store_factor(stored: Array, lower: Array, uplo: int) -> None:
    """As potrf leaves it: in one triangle, the other untouched."""
    store_triangle(stored, lower.conj().T if uplo == UPPER else lower, uplo)


def _solved(lower: Array, right: Array) -> Array:
    return solve(lower.conj().T, False, solve(lower, True, right))


def potrf(call: Call, t: NumberType, uplo: int, n: int, a: int, lda: int, info: int) -> None:
    """A = L L^H or U^H U, in the triangle that is named"""
    a_ = call.matrix("A", a, n, n, lda, t, writes=True)
    told = dev_info(call, info)
    call.work(t, n**3 / 6)
    factor, told[0] = cholesky(a_.load(), uplo)
    store_factor(a_.stored, factor, uplo)


def potrs(
    call: Call, t: NumberType, uplo: int, n: int, columns: int, a: int, lda: int, b: int, ldb: int, info: int
) -> None:
    """B = A^-1 B, from what potrf left"""
    a_, b_ = call.matrix("A", a, n, n, lda, t), call.matrix("B", b, n, columns, ldb, t, writes=True)
    told = dev_info(call, info)
    call.work(t, n * n * columns)
    b_.store(_solved(lower_factor(a_.load(), uplo), b_.load()))
    told[0] = 0


def potri(call: Call, t: NumberType, uplo: int, n: int, a: int, lda: int, info: int) -> None:
    """A = A^-1 in the triangle that is named, from what potrf left; a factor with a 0 on its diagonal stays"""
    a_ = call.matrix("A", a, n, n, lda, t, writes=True)
    told = dev_info(call, info)
    call.work(t, n**3 / 3)
    lower = lower_factor(a_.load(), uplo)
    zeros = np.flatnonzero(np.diag(lower) == 0)
    told[0] = zeros[0] + 1 if len(zeros) else 0
    if not len(zeros):
        inverse = solve(lower, True, np.eye(n, dtype=t.compute))
        store_triangle(a_.stored, inverse.conj().T @ inverse, uplo)


def potrf_batched(call: Call, t: NumberType, uplo: int, n: int, a: int, lda: int, info: int, count: int) -> None:
    """potrf of each matrix, each with a number of its own in infoArray"""
    places = call.pointers("Aarray", a, count)
    matrices = [call.matrix(f"Aarray[{i}]", at, n, n, lda, t, writes=True) for i, at in enumerate(places)]
    told = dev_info(call, info, count)
    call.work(t, count * n**3 / 6)
    for i, each in enumerate(matrices):
        factor, told[i] = cholesky(each.load(), uplo)
        store_factor(each.stored, factor, uplo)


def potrs_batched(
    call: Call,
    t: NumberType,
    uplo: int,
    n: int,
    columns: int,
    a: int,
    lda: int,
    b: int,
    ldb: int,
    info: int,
    count: int,
) -> None:
    """potrs of each pair of matrices, with one number for all"""
    places = zip(call.pointers("Aarray", a, count), call.pointers("Barray", b, count), strict=True)
    told = dev_info(call, info)
    call.work(t, count * n * n * columns)
    for i, (at, to) in enumerate(places):
        right = call.matrix(f"Barray[{i}]", to, n, columns, ldb, t, writes=True)
        factor = call.matrix(f"Aarray[{i}]", at, n, n, lda, t).load()
        right.store(_solved(lower_factor(factor, uplo), right.load()))
    told[0] = 0


# ---- LU factors ----


def getrf(call: Call, t: NumberType, m: int, n: int, a: int, lda: int, pivots: int, info: int) -> None:
    """P A = L U in place; A = L U where there is no room for pivots"""
    a_ = call.matrix("A", a, m, n, lda, t, writes=True)
    steps = min(m, n)
    rows = call.vector("devIpiv", pivots, steps, 1, I32, reads=False, writes=True).stored if pivots else None
    told = dev_info(call, info)
    call.work(t, steps**2 * (max(m, n) - steps / 3) / 2)
    lu = a_.load()[None].copy()
    told[0] = factorise(lu, None if rows is None else rows[:, None])[0]
    a_.store(lu[0])


def getrs(
    call: Call,
    t: NumberType,
    trans: int,
    n: int,
    columns: int,
    a: int,
    lda: int,
    pivots: int,
    b: int,
    ldb: int,
    info: int,
) -> None:
    """B = op(A)^-1 B, from what getrf left"""
    a_, b_ = call.matrix("A", a, n, n, lda, t), call.matrix("B", b, n, columns, ldb, t, writes=True)
    order = np.arange(n)
    if pivots:
        order = order_of_rows("devIpiv", n, call.vector("devIpiv", pivots, n, 1, I32).load())
    told = dev_info(call, info)
    call.work(t, n * n * columns)
    b_.store(solve_with_factors(a_.load(), order, b_.load(), trans))
    told[0] = 0
