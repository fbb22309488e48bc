"""Triangular and symmetric matrices as full ones, and systems of equations with triangles."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.number_types import Array

UPPER, UNIT = 1, 1
"""CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_UNIT."""
_BLOCK = 64


def operated(a: Array, operation: int) -> Array:
    """A, its transpose or its conjugate transpose, over the last two axes: CUBLAS_OP_N, _T, _C."""
    if operation == 0:
        return a
    turned = a.swapaxes(-1, -2)
    return turned.conj() if operation == 2 else turned


def symmetric(a: Array, uplo: int, is_hermitian: bool = False) -> Array:
    """The whole matrix of which ``a`` holds a triangle; the other triangle of ``a`` is not looked at."""
    half = np.triu(a, 1) if uplo == UPPER else np.tril(a, -1)
    diagonal = np.diag(a).real if is_hermitian else np.diag(a)
    other = half.conj().T if is_hermitian else half.T
    found: Array = half + other
    np.fill_diagonal(found, diagonal)
    return found


def triangular(a: Array, uplo: int, diagonal: int) -> Array:
    """The triangle of ``a``, zeros beside it, and ones on the diagonal of a unit triangle."""
    found: Array = np.triu(a) if uplo == UPPER else np.tril(a)
    if diagonal == UNIT:
        np.fill_diagonal(found, 1)
    return found


def store_triangle(stored: Array, values: Array, uplo: int) -> None:
    """Writes one triangle, its diagonal included."""
    mask = np.tri(len(stored), dtype=bool)
    np.copyto(stored, values.astype(stored.dtype), where=mask.T if uplo == UPPER else mask)


def solve(triangle: Array, is_lower: bool, right: Array) -> Array:
    """X with ``triangle`` @ X = ``right``, block by block; a zero on the diagonal gives infinities, as on a GPU."""
    n = len(triangle)
    x: Array = right.copy()
    starts = range(0, n, _BLOCK)
    for start in starts if is_lower else reversed(starts):
        end = min(start + _BLOCK, n)
        for i in range(start, end) if is_lower else reversed(range(start, end)):
            x[i] /= triangle[i, i]
            rest = slice(i + 1, end) if is_lower else slice(start, i)
            x[rest] -= np.outer(triangle[rest, i], x[i])
        rest = slice(end, n) if is_lower else slice(0, start)
        x[rest] -= triangle[rest, start:end] @ x[start:end]
    return x
