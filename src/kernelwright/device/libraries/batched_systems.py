"""cuBLAS's factorisations of batches: LU, inverses, systems of equations, least squares."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.number_types import I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Operand
from kernelwright.device.libraries.triangles import UNIT, UPPER, operated, solve, triangular


def getrf(call: Call, t: NumberType, n: int, a: int, lda: int, pivots: int, info: int, count: int) -> None:
    """P A = L U in place, column by column, all matrices of the batch together; without pivots where there is no room for them"""
    matrices = [
        call.matrix(f"Aarray[{i}]", at, n, n, lda, t, writes=True)
        for i, at in enumerate(call.pointers("Aarray", a, count))
    ]
    rows = call.matrix("PivotArray", pivots, n, count, n, I32, reads=False, writes=True).stored if pivots else None
    told = call.vector("infoArray", info, count, 1, I32, reads=False, writes=True).stored
    call.work(t, count * n**3 / 3)
    lu = np.stack([each.load() for each in matrices])
    told[:] = 0
    batch = np.arange(count)
    for k in range(n):
        if rows is not None:
            best = k + np.argmax(np.abs(lu[:, k:, k]), axis=1)
            rows[k] = best + 1
            lu[batch, k], lu[batch, best] = lu[batch, best].copy(), lu[batch, k].copy()
        pivot = lu[:, k, k]
        told[(pivot == 0) & (told == 0)] = k + 1
        lu[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, None, k, k + 1 :]
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
        inverse = _solved(lu, order[i], np.eye(n, dtype=t.compute), 0)
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
        right.store(_solved(lu, order[i], right.load(), trans))


def _orders(call: Call, pivots: int, n: int, count: int) -> Array:
    """For each matrix which row of A is which row of LU."""
    order = np.tile(np.arange(n), (count, 1))
    if pivots:
        swaps = call.matrix("PivotArray", pivots, n, count, n, I32).stored - 1
        for i in range(count):
            for k in range(n):
                order[i, [k, swaps[k, i]]] = order[i, [swaps[k, i], k]]
    return order


def _solved(lu: Array, order: Array, right: Array, trans: int) -> Array:
    lower, upper = triangular(lu, 1 - UPPER, UNIT), triangular(lu, UPPER, 1 - UNIT)
    if trans == 0:
        return solve(upper, False, solve(lower, True, right[order]))
    inner = solve(operated(lower, trans), False, solve(operated(upper, trans), True, right))
    made = np.empty_like(inner)
    made[order] = inner
    return made


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
