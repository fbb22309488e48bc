"""cuSOLVER's eigenvalues and singular values, with their vectors. NumPy computes both in double precision, also of floats."""

from __future__ import annotations

import numpy as np

from kernelwright.device.libraries.dense.devinfo import dev_info
from kernelwright.device.libraries.dense.systems import cholesky, store_factor
from kernelwright.device.libraries.number_types import REAL_PART, Array, NumberType
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.libraries.triangles import solve, symmetric

_VALUES_WORK, _VECTORS_WORK = 2 / 3, 7 / 3
"""Multiply-adds for eigenvalues alone, and with vectors, of n = 1: reduction to three diagonals, dividing and conquering, and back."""
_FIRST = 1
"""CUSOLVER_EIG_TYPE_1: A x = lambda B x."""
_THIRD = 3
"""CUSOLVER_EIG_TYPE_3: B A x = lambda x."""


def syevd(call: Call, t: NumberType, job: int, uplo: int, n: int, a: int, lda: int, w: int, info: int) -> None:
    """W = the eigenvalues of A, the least first; with vectors A = the vectors, of length 1"""
    a_ = call.matrix("A", a, n, n, lda, t, writes=bool(job))
    w_ = call.vector("W", w, n, 1, REAL_PART[t.name], reads=False, writes=True)
    told = dev_info(call, info)
    call.work(t, (_VECTORS_WORK if job else _VALUES_WORK) * n**3)
    values, vectors, told[0] = _eigen(symmetric(a_.load(), uplo, is_hermitian=True), bool(job))
    w_.store(values)
    if job:
        a_.store(vectors)


def sygvd(
    call: Call, t: NumberType, kind: int, job: int, uplo: int, n: int, a: int, lda: int, b: int, ldb: int, w: int,
    info: int,
) -> None:  # fmt: skip
    """As syevd, of A x = lambda B x, A B x = lambda x or B A x = lambda x; B = its Cholesky factor"""
    a_ = call.matrix("A", a, n, n, lda, t, writes=bool(job))
    b_ = call.matrix("B", b, n, n, ldb, t, writes=True)
    w_ = call.vector("W", w, n, 1, REAL_PART[t.name], reads=False, writes=True)
    told = dev_info(call, info)
    call.work(t, ((_VECTORS_WORK if job else _VALUES_WORK) + 7 / 6) * n**3)
    lower, failed = cholesky(b_.load(), uplo)
    store_factor(b_.stored, lower, uplo)
    if failed:
        told[0] = n + failed
        return
    whole = symmetric(a_.load(), uplo, is_hermitian=True).astype(lower.dtype)
    if kind == _FIRST:  # L^-1 A L^-H
        half = solve(lower, True, whole)
        standard = solve(lower, True, half.conj().T)
    else:
        standard = lower.conj().T @ whole @ lower
    values, vectors, told[0] = _eigen(standard, bool(job))
    w_.store(values)
    if job:
        a_.store(lower @ vectors if kind == _THIRD else solve(lower.conj().T, False, vectors))


def _eigen(whole: Array, is_with_vectors: bool) -> tuple[Array, Array, int]:
    """Values, vectors, and what devInfo says: how many did not converge, which NumPy does not tell one by one."""
    n = len(whole)
    try:
        if is_with_vectors:
            values, vectors = np.linalg.eigh(whole)
            return values, vectors, 0
        return np.linalg.eigvalsh(whole), whole, 0
    except np.linalg.LinAlgError:
        return np.full(n, np.nan), np.full_like(whole, np.nan), n


def gesvd(
    call: Call, t: NumberType, jobu: int, jobvt: int, m: int, n: int, a: int, lda: int, s: int, u: int, ldu: int,
    vt: int, ldvt: int, info: int,
) -> None:  # fmt: skip
    """A = U S V^H, m >= n: S = the singular values, the greatest first, and U and VT, or A in the place of one, as the jobs say"""
    job_u, job_vt = chr(jobu), chr(jobvt)
    a_ = call.matrix("A", a, m, n, lda, t, writes="O" in (job_u, job_vt))
    s_ = call.vector("S", s, n, 1, REAL_PART[t.name], reads=False, writes=True)
    columns = m if job_u == "A" else n
    u_ = call.matrix("U", u, m, columns, ldu, t, reads=False, writes=True) if job_u in "AS" else None
    vt_ = call.matrix("VT", vt, n, n, ldvt, t, reads=False, writes=True) if job_vt in "AS" else None
    told = dev_info(call, info)
    if job_u == job_vt == "N":  # these counts: Golub and Van Loan, Matrix Computations, section 8.6
        call.work(t, 2 * m * n**2 - 2 / 3 * n**3)
    else:
        call.work(t, 2 * m * m * n + 11 * n**3 if job_u == "A" else 3 * m * n**2 + 10 * n**3)
    try:
        if job_u == job_vt == "N":
            values, left, right = np.linalg.svd(a_.load(), compute_uv=False), a_.load(), a_.load()
        else:
            left, values, right = np.linalg.svd(a_.load(), full_matrices=job_u == "A")
        told[0] = 0
    except np.linalg.LinAlgError:  # NumPy does not tell how many have not converged
        values, left, right = (np.full(shape, np.nan, t.compute) for shape in ((n,), (m, columns), (n, n)))
        told[0] = n
    s_.store(values)
    if u_:
        u_.store(left)
    if vt_:
        vt_.store(right)
    if job_u == "O":
        a_.store(left)
    if job_vt == "O":
        a_.stored[:n] = t.round(right)
