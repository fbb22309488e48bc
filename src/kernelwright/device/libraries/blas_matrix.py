"""Level 3 of BLAS, and products of cuBLAS's own: matrices. With beta == 0 what is written is not read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kernelwright.device.libraries.blas_matrix_vector import scaled
from kernelwright.device.libraries.number_types import BY_NUMBER, I32, REAL_PART, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number, Operand
from kernelwright.device.libraries.triangles import UPPER, operated, solve, store_triangle, symmetric, triangular
from kernelwright.lazy_dataclasses import dataclass

LEFT = 0
"""CUBLAS_SIDE_LEFT."""

# ---- products ----


@dataclass(frozen=True)
class Product:
    """C = alpha op(A) op(B) + beta C, without where the matrices lie. ``scale`` is the type of alpha and beta."""

    a_type: NumberType
    b_type: NumberType
    c_type: NumberType
    scale: NumberType
    transa: int
    transb: int
    m: int
    n: int
    k: int
    alpha: Number
    beta: Number
    lda: int
    ldb: int
    ldc: int

    def run(
        self, call: Call, a: int, b: int, c: int, strides: tuple[int, int, int] = (0, 0, 0), count: int = 1
    ) -> None:
        """Of ``count`` matrices, ``strides`` numbers apart."""
        m, n, k = self.m, self.n, self.k
        c_is_read = self.beta.value(self.scale) != 0
        c_ = call.matrices("C", c, m, n, self.ldc, strides[2], count, self.c_type, c_is_read, writes=True)
        made = scaled(self.beta, self.scale, c_)
        alpha = self.alpha.value(self.scale)
        call.work(self.a_type, float(count) * m * n * k)
        if alpha != 0 and k > 0:
            a_rows, b_rows = (m, k) if self.transa == 0 else (k, m), (k, n) if self.transb == 0 else (n, k)
            a_ = call.matrices("A", a, *a_rows, self.lda, strides[0], count, self.a_type)
            b_ = call.matrices("B", b, *b_rows, self.ldb, strides[1], count, self.b_type)
            left, right = operated(a_.load(), self.transa), operated(b_.load(), self.transb)
            # The transposed product lies in memory as C does.
            product = np.matmul(right.swapaxes(1, 2), left.swapaxes(1, 2)).swapaxes(1, 2)
            made = made + self._scaled(alpha, product)
        c_.store(made)

    def _scaled(self, alpha: Any, product: Array) -> Array:
        if self.scale is I32:  # sums of 8-bit products are exact in double precision, and wrap around at 32 bits
            return np.asarray(int(alpha) * product.astype(np.int64)).astype(np.int32)
        made: Array = np.multiply(alpha, product, dtype=self.c_type.compute)
        return made


def gemm(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, lda: int, b: int,
    ldb: int, beta: Number, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha op(A) op(B) + beta C"""
    Product(t, t, t, t, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc).run(call, a, b, c)


def gemm_batched(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, lda: int, b: int,
    ldb: int, beta: Number, c: int, ldc: int, count: int,
) -> None:  # fmt: skip
    """The same for matrices whose addresses lie in arrays on the device"""
    _each(call, Product(t, t, t, t, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc), a, b, c, count)


def gemm_strided_batched(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, lda: int,
    stride_a: int, b: int, ldb: int, stride_b: int, beta: Number, c: int, ldc: int, stride_c: int, count: int,
) -> None:  # fmt: skip
    """``cublas<t>gemmStridedBatched``: matrices at equal distances, in elements."""
    product = Product(t, t, t, t, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc)
    product.run(call, a, b, c, (stride_a, stride_b, stride_c), count)


def gemm_ex(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, a_type: int,
    lda: int, b: int, b_type: int, ldb: int, beta: Number, c: int, c_type: int, ldc: int, scale: int,
) -> None:  # fmt: skip
    """``cublasGemmEx``: types by cuBLAS's numbers."""
    types = _typed(a_type, b_type, c_type, scale)
    Product(*types, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc).run(call, a, b, c)


def gemm_batched_ex(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, a_type: int,
    lda: int, b: int, b_type: int, ldb: int, beta: Number, c: int, c_type: int, ldc: int, count: int, scale: int,
) -> None:  # fmt: skip
    """``cublasGemmBatchedEx``: matrices behind arrays of pointers."""
    types = _typed(a_type, b_type, c_type, scale)
    _each(call, Product(*types, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc), a, b, c, count)


def gemm_strided_batched_ex(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, a: int, a_type: int,
    lda: int, stride_a: int, b: int, b_type: int, ldb: int, stride_b: int, beta: Number, c: int, c_type: int, ldc: int,
    stride_c: int, count: int, scale: int,
) -> None:  # fmt: skip
    """``cublasGemmStridedBatchedEx``."""
    types = _typed(a_type, b_type, c_type, scale)
    product = Product(*types, transa, transb, m, n, k, alpha, beta, lda, ldb, ldc)
    product.run(call, a, b, c, (stride_a, stride_b, stride_c), count)


def _typed(a: int, b: int, c: int, scale: int) -> tuple[NumberType, NumberType, NumberType, NumberType]:
    return BY_NUMBER[a], BY_NUMBER[b], BY_NUMBER[c], BY_NUMBER[scale]


def _each(call: Call, product: Product, a: int, b: int, c: int, count: int) -> None:
    """Matrices that lie as far from each other throughout, as those of one allocation do, are multiplied together."""
    types = product.a_type, product.b_type, product.c_type
    arrays = zip(("Aarray", "Barray", "Carray"), (a, b, c), strict=True)
    addresses = [call.pointers(name, at, count) for name, at in arrays]
    strides = [_stride(call, each, t.size) for each, t in zip(addresses, types, strict=True)]
    if all(stride is not None for stride in strides) and strides[2] != 0:
        first = [each[0] for each in addresses]
        product.run(call, first[0], first[1], first[2], (strides[0] or 0, strides[1] or 0, strides[2] or 0), count)
        return
    for one in zip(*addresses, strict=True):
        product.run(call, one[0], one[1], one[2])


def _stride(call: Call, addresses: list[int], size: int) -> int | None:
    """How many numbers lie from each matrix to the next; None where that differs, they go down, or lie in several buffers."""
    if call.arena.find(addresses[0]) != call.arena.find(addresses[-1]):
        return None
    steps = {later - one for one, later in pairwise(addresses)}
    if not steps:
        return 1
    step = steps.pop()
    return step // size if not steps and step >= 0 and step % size == 0 else None


# ---- symmetric and triangular matrices ----


def _add(call: Call, factor: Any, product: Array, beta: Number, t: NumberType, c: Operand) -> None:
    made = scaled(beta, t, c)
    c.store(made + factor * product if factor != 0 else made)


def symm(
    call: Call, t: NumberType, side: int, uplo: int, m: int, n: int, alpha: Number, a: int, lda: int, b: int, ldb: int,
    beta: Number, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha A B + beta C, or alpha B A + beta C, of a symmetric or (hemm) Hermitian A"""
    size = m if side == LEFT else n
    a_, b_ = call.matrix("A", a, size, size, lda, t), call.matrix("B", b, m, n, ldb, t)
    c_ = call.matrix("C", c, m, n, ldc, t, reads=beta.value(t) != 0, writes=True)
    call.work(t, float(m) * n * size)
    whole = symmetric(a_.load(), uplo, call.name.endswith("hemm"))
    _add(call, alpha.value(t), whole @ b_.load() if side == LEFT else b_.load() @ whole, beta, t, c_)


def syrk(
    call: Call, t: NumberType, uplo: int, trans: int, n: int, k: int, alpha: Number, a: int, lda: int, beta: Number, c: int,
    ldc: int,
) -> None:  # fmt: skip
    """C = alpha op(A) op(A)^T + beta C, or (herk) op(A)^H with real factors, in one triangle"""
    is_hermitian = call.name.endswith("herk")
    a_ = operated(call.matrix("A", a, *_shape(trans, n, k), lda, t).load(), trans)
    _rank_k(call, t, uplo, n, k, alpha, a_ @ _turned(a_, is_hermitian), beta, c, ldc, is_hermitian, is_hermitian)


def syrkx(
    call: Call, t: NumberType, uplo: int, trans: int, n: int, k: int, alpha: Number, a: int, lda: int, b: int, ldb: int,
    beta: Number, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha op(A) op(B)^T + beta C in one triangle, where the caller knows that it is symmetric"""
    a_ = operated(call.matrix("A", a, *_shape(trans, n, k), lda, t).load(), trans)
    b_ = operated(call.matrix("B", b, *_shape(trans, n, k), ldb, t).load(), trans)
    _rank_k(call, t, uplo, n, k, alpha, a_ @ b_.T, beta, c, ldc, False, False)


def syr2k(
    call: Call, t: NumberType, uplo: int, trans: int, n: int, k: int, alpha: Number, a: int, lda: int, b: int, ldb: int,
    beta: Number, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C, or (her2k) with ^H and a conjugated second alpha, in one triangle"""
    is_hermitian = call.name.endswith("her2k")
    a_ = operated(call.matrix("A", a, *_shape(trans, n, k), lda, t).load(), trans)
    b_ = operated(call.matrix("B", b, *_shape(trans, n, k), ldb, t).load(), trans)
    first = alpha.value(t) * (a_ @ _turned(b_, is_hermitian))
    both = first + _turned(first, is_hermitian)
    call.work(t, n * n * k / 2)
    _rank_k(call, t, uplo, n, k, alpha, both, beta, c, ldc, is_hermitian, False, is_scaled=True)


def _rank_k(
    call: Call, t: NumberType, uplo: int, n: int, k: int, alpha: Number, product: Array, beta: Number, c: int, ldc: int,
    is_hermitian: bool, has_real_alpha: bool, is_scaled: bool = False,
) -> None:  # fmt: skip
    beta_type = REAL_PART[t.name] if is_hermitian else t
    factor = alpha.value(REAL_PART[t.name] if has_real_alpha else t)
    c_ = call.matrix("C", c, n, n, ldc, t, reads=beta.value(beta_type) != 0, writes=True)
    call.work(t, n * n * k / 2)
    made = scaled(beta, beta_type, c_)
    if factor != 0:
        made = made + (product if is_scaled else factor * product)
    if is_hermitian:
        np.fill_diagonal(made, np.diag(made).real)
    store_triangle(c_.stored, made, uplo)


def _shape(trans: int, n: int, k: int) -> tuple[int, int]:
    return (n, k) if trans == 0 else (k, n)


def _turned(a: Array, is_hermitian: bool) -> Array:
    return a.conj().T if is_hermitian else a.T


def trmm(
    call: Call, t: NumberType, side: int, uplo: int, trans: int, diagonal: int, m: int, n: int, alpha: Number, a: int,
    lda: int, b: int, ldb: int, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha op(A) B, or alpha B op(A), of a triangular A; C may be B"""
    size = m if side == LEFT else n
    a_, b_ = call.matrix("A", a, size, size, lda, t), call.matrix("B", b, m, n, ldb, t)
    c_ = call.matrix("C", c, m, n, ldc, t, reads=False, writes=True)
    call.work(t, m * n * size / 2)
    triangle = operated(triangular(a_.load(), uplo, diagonal), trans)
    product = triangle @ b_.load() if side == LEFT else b_.load() @ triangle
    factor = alpha.value(t)
    c_.store(factor * product if factor != 0 else np.zeros_like(product))


def trsm(
    call: Call, t: NumberType, side: int, uplo: int, trans: int, diagonal: int, m: int, n: int, alpha: Number, a: int,
    lda: int, b: int, ldb: int,
) -> None:  # fmt: skip
    """B = alpha op(A)^-1 B, or alpha B op(A)^-1, of a triangular A"""
    size = m if side == LEFT else n
    a_, b_ = call.matrix("A", a, size, size, lda, t), call.matrix("B", b, m, n, ldb, t, writes=True)
    call.work(t, m * n * size / 2)
    factor = alpha.value(t)
    if factor == 0:
        b_.store(np.zeros((m, n), t.compute))
        return
    triangle = operated(triangular(a_.load(), uplo, diagonal), trans)
    is_lower = (uplo != UPPER) == (trans == 0)
    right = factor * b_.load()
    b_.store(solve(triangle, is_lower, right) if side == LEFT else solve(triangle.T, not is_lower, right.T).T)


def trsm_batched(
    call: Call, t: NumberType, side: int, uplo: int, trans: int, diagonal: int, m: int, n: int, alpha: Number, a: int,
    lda: int, b: int, ldb: int, count: int,
) -> None:  # fmt: skip
    """``cublas<t>trsmBatched``: triangular systems behind arrays of pointers."""
    addresses: Sequence[list[int]] = (call.pointers("A", a, count), call.pointers("B", b, count))
    for a_, b_ in zip(*addresses, strict=True):
        trsm(call, t, side, uplo, trans, diagonal, m, n, alpha, a_, lda, b_, ldb)


# ---- cuBLAS's own ----


def geam(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, alpha: Number, a: int, lda: int, beta: Number,
    b: int, ldb: int, c: int, ldc: int,
) -> None:  # fmt: skip
    """C = alpha op(A) + beta op(B); a matrix whose factor is 0 is not read"""
    made = np.zeros((m, n), t.compute)
    for name, at, ld, trans, factor in (("A", a, lda, transa, alpha.value(t)), ("B", b, ldb, transb, beta.value(t))):
        if factor != 0:
            shape = (m, n) if trans == 0 else (n, m)
            made = made + factor * operated(call.matrix(name, at, *shape, ld, t).load(), trans)
    call.work(t, 2 * m * n)
    call.matrix("C", c, m, n, ldc, t, reads=False, writes=True).store(made)


def dgmm(
    call: Call, t: NumberType, side: int, m: int, n: int, a: int, lda: int, x: int, incx: int, c: int, ldc: int
) -> None:
    """C = diag(x) A, or A diag(x)"""
    a_, xs = call.matrix("A", a, m, n, lda, t).load(), call.vector("x", x, m if side == LEFT else n, incx, t).load()
    call.work(t, m * n)
    made = xs[:, None] * a_ if side == LEFT else a_ * xs[None, :]
    call.matrix("C", c, m, n, ldc, t, reads=False, writes=True).store(made)
