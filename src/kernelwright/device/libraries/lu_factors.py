"""P A = L U, and systems of equations with the factors: of cuBLAS's batches and of cuSOLVER's single matrices."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.number_types import Array
from kernelwright.device.libraries.routine_call import MemoryFault
from kernelwright.device.libraries.triangles import UNIT, UPPER, operated, solve, triangular

_BLOCK = 64


def factorise(lu: Array, rows: Array | None) -> Array:
    """P A = L U in place, all matrices of ``lu`` (count x m x n) together: columns in blocks, what is right of a block by a product.

    ``rows`` (min(m, n) x count) gets the row, from 1 on, that each row is exchanged with; without it nothing is exchanged. Returns for
    each matrix the first pivot that is 0, from 1 on, or 0."""
    count, m, n = lu.shape
    told = np.zeros(count, np.int32)
    batch = np.arange(count)
    steps = min(m, n)
    for start in range(0, steps, _BLOCK):
        end = min(start + _BLOCK, steps)
        for k in range(start, end):
            if rows is not None:
                best = k + np.argmax(np.abs(lu[:, k:, k]), axis=1)
                rows[k] = best + 1
                lu[batch, k], lu[batch, best] = lu[batch, best].copy(), lu[batch, k].copy()
            pivot = lu[:, k, k]
            told[(pivot == 0) & (told == 0)] = k + 1
            lu[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)[:, None]
            lu[:, k + 1 :, k + 1 : end] -= lu[:, k + 1 :, k, None] * lu[:, None, k, k + 1 : end]
        for k in range(start, end):
            lu[:, k + 1 : end, end:] -= lu[:, k + 1 : end, k, None] * lu[:, None, k, end:]
        lu[:, end:, end:] -= np.matmul(lu[:, end:, start:end], lu[:, start:end, end:])
    return told


def order_of_rows(name: str, n: int, pivots: Array) -> Array:
    """Which row of A is which row of L U, both from 0 on, where row k was exchanged with ``pivots[k]``, from 1 on. Raises ``MemoryFault``
    for a pivot that is no row, which a GPU would follow out of the matrix."""
    exchanged = pivots.astype(np.int64) - 1
    outside = np.flatnonzero((exchanged < 0) | (exchanged >= n))
    if len(outside):
        at = int(outside[0])
        raise MemoryFault("out-of-bounds", f"{name}: number {at} is {pivots[at]}, counted from 1, of {n}")
    order = np.arange(n)
    for k, other in enumerate(exchanged):
        order[[k, other]] = order[[other, k]]
    return order


def solve_with_factors(lu: Array, order: Array, right: Array, trans: int) -> Array:
    """X with op(A) X = ``right``."""
    lower, upper = triangular(lu, 1 - UPPER, UNIT), triangular(lu, UPPER, 1 - UNIT)
    if trans == 0:
        return solve(upper, False, solve(lower, True, right[order]))
    inner = solve(operated(lower, trans), False, solve(operated(upper, trans), True, right))
    made = np.empty_like(inner)
    made[order] = inner
    return made
