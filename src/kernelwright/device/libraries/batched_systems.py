"""cuBLAS's factorisations of batches: LU, inverses, systems of equations, least squares."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.lu_factors import factorise, order_of_rows, solve_with_factors
from kernelwright.device.libraries.number_types import I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Operand
from kernelwright.device.libraries.triangles import solve


def getrf(call: Call, t: NumberType, n: int, a: int, lda: int, pivots: int, info: int, count: int) -> None:
    """P A = L U in place, all matrices of the batch together; without pivots where there is no room for them"""
    matrices = [
        call.matrix(f"Aarray[{i}]", at, n, n, lda, t, writes=True)
        for i, at in enumerate(call.pointers("Aarray", a, count))
    ]
    rows = call.matrix("PivotArray", pivots, n, count, n, I32, reads=False, writes=True).stored if pivots else None
    told = call.vector("infoArray", info, count, 1, I32, reads=False, writes=True).stored
    call.work(t, count * n**3 / 3)
    lu = np.stack([each.load() for each in matrices])
    told[:] = factorise(lu, rows)
    for each, made in zip(matrices, lu, strict=True):
        each.store(made)


def getri(
    call: Call, t: NumberType, n: int, a: int, lda: int, pivots: int, c: int, ldc: int, info: int, count: int
) -> None:
    """C = A^-1, from what getrf left"""
    order = _orders(call, pivots, n, count)
    told = call.vector("infoArray", info, count, 1, I32, reads=False, writes=True).stored
    places = zip(call.pointers("Aarray", a, count), call.pointers("Carray", c, count), strict=True)
    call.work(t, count * n**3)
    for i, (at, to) in enumerate(places):
        lu = call.matrix(f"Aarray[{i}]", at, n, n, lda, t).load()
        zeros = np.flatnonzero(np.diag(lu) == 0)
        told[i] = zeros[0] + 1 if len(zeros) else 0
        inverse = solve_with_factors(lu, order[i], np.eye(n, dtype=t.compute), 0)
        call.matrix(f"Carray[{i}]", to, n, n, ldc, t, reads=False, writes=True).store(inverse)


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
    count: int,
) -> None:
    """B = op(A)^-1 B, from what getrf left"""
    order = _orders(call, pivots, n, count)
    places = zip(call.pointers("Aarray", a, count), call.pointers("Barray", b, count), strict=True)
    call.work(t, count * n * n * columns)
    for i, (at, to) in enumerate(places):
        right = call.matrix(f"Barray[{i}]", to, n, columns, ldb, t, writes=True)
        lu = call.matrix(f"Aarray[{i}]", at, n, n, lda, t).load()
        right.store(solve_with_factors(lu, order[i], right.load(), trans))


def _orders(call: Call, pivots: int, n: int, count: int) -> Array:
    """For each matrix which row of A is which row of LU."""
    if not pivots:
        return np.tile(np.arange(n), (count, 1))
    stored = call.matrix("PivotArray", pivots, n, count, n, I32).stored
    return np.stack([order_of_rows(f"PivotArray, matrix {i}", n, stored[:, i]) for i in range(count)])


def gels(
    call: Call, t: NumberType, trans: int, m: int, n: int, columns: int, a: int, lda: int, c: int, ldc: int, info: int,
    count: int,
) -> None:  # fmt: skip
    """The first n rows of C = the X that makes A X nearest to C; A = its QR factors. m >= n."""
    told = None
    if info:
        told = call.vector("devInfoArray", info, count, 1, I32, reads=False, writes=True).stored
    places = zip(call.pointers("Aarray", a, count), call.pointers("Carray", c, count), strict=True)
    call.work(t, count * 2 * m * n * n)
    for i, (at, to) in enumerate(places):
        matrix = call.matrix(f"Aarray[{i}]", at, m, n, lda, t, writes=True)
        right: Operand = call.matrix(f"Carray[{i}]", to, m, columns, ldc, t, writes=True)
        values = matrix.load()
        factors, _ = np.linalg.qr(values, mode="raw")
        q, r = np.linalg.qr(values, mode="complete")
        turned = q.conj().T @ right.load()
        zeros = np.flatnonzero(np.diag(r)[:n] == 0)
        if told is not None:
            told[i] = zeros[0] + 1 if len(zeros) else 0
        turned[:n] = solve(r[:n], False, turned[:n])
        matrix.store(factors.T)
        right.store(turned)
