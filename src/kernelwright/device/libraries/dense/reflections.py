"""cuSOLVER's QR factorisation: Q is a product of Householder reflections H(i) = I - tau(i) v(i) v(i)^H, as LAPACK stores them.

v(i) is below the diagonal of column i, with a 1 on it. Reflections are applied in blocks, I - V T V^H (Schreiber and Van Loan, 1989).
"""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.blas_matrix import LEFT
from kernelwright.device.libraries.dense.devinfo import dev_info
from kernelwright.device.libraries.number_types import Array, NumberType
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.libraries.triangles import UNIT, UPPER, triangular

_BLOCK = 64


def geqrf(call: Call, t: NumberType, m: int, n: int, a: int, lda: int, tau: int, info: int) -> None:
    """A = Q R in place: R on and above the diagonal, the reflections below it and in TAU"""
    steps = min(m, n)
    a_ = call.matrix("A", a, m, n, lda, t, writes=True)
    tau_ = call.vector("TAU", tau, steps, 1, t, reads=False, writes=True)
    told = dev_info(call, info)
    call.work(t, steps**2 * (max(m, n) - steps / 3))
    if steps:
        factors, factor_tau = np.linalg.qr(a_.load(), mode="raw")
        a_.store(factors.T)
        tau_.store(factor_tau)
    told[0] = 0


def orgqr(call: Call, t: NumberType, m: int, n: int, k: int, a: int, lda: int, tau: int, info: int) -> None:
    """A = the first n columns of Q, from the k reflections that geqrf left in it"""
    a_ = call.matrix("A", a, m, n, lda, t, writes=True)
    tau_ = call.vector("tau", tau, k, 1, t)
    told = dev_info(call, info)
    call.work(t, 2 * m * n * k - (m + n) * k * k + 2 / 3 * k**3)
    a_.store(reflected(a_.load(), tau_.load(), np.eye(m, n, dtype=t.compute), False))
    told[0] = 0


def ormqr(
    call: Call, t: NumberType, side: int, trans: int, m: int, n: int, k: int, a: int, lda: int, tau: int, c: int,
    ldc: int, info: int,
) -> None:  # fmt: skip
    """C = op(Q) C or C op(Q), from the k reflections that geqrf left in A"""
    size = m if side == LEFT else n
    a_, tau_ = call.matrix("A", a, size, k, lda, t), call.vector("tau", tau, k, 1, t)
    c_ = call.matrix("C", c, m, n, ldc, t, writes=True)
    told = dev_info(call, info)
    call.work(t, k * (n if side == LEFT else m) * (2 * size - k))
    if side == LEFT:
        c_.store(reflected(a_.load(), tau_.load(), c_.load(), trans != 0))
    else:  # C Q = (Q^H C^H)^H
        c_.store(reflected(a_.load(), tau_.load(), c_.load().conj().T, trans == 0).conj().T)
    told[0] = 0


def reflected(factors: Array, tau: Array, c: Array, is_inverse: bool) -> Array:
    """Q C, or Q^H C, with the reflections in the columns of ``factors``."""
    made: Array = c.copy()
    k = len(tau)
    starts = range(0, k, _BLOCK)
    for start in starts if is_inverse else reversed(starts):
        end = min(start + _BLOCK, k)
        v = triangular(factors[start:, start:end], 1 - UPPER, UNIT)
        inner = _inner_triangle(v, tau[start:end])
        inner = inner.conj().T if is_inverse else inner
        made[start:] -= v @ (inner @ (v.conj().T @ made[start:]))
    return made


def _inner_triangle(v: Array, tau: Array) -> Array:
    """The upper triangle T of a block of reflections."""
    products = v.conj().T @ v
    made = np.zeros_like(products)
    for i, factor in enumerate(tau):
        made[i, i] = factor
        made[:i, i] = -factor * (made[:i, :i] @ products[:i, i])
    return made
