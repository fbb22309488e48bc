"""cublasLt's product: D = epilogue(alpha op(A) op(B) + beta C), of one matrix or a strided batch."""

from __future__ import annotations

import math

import numpy as np

from kernelwright.device.libraries.number_types import BY_NUMBER, I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number
from kernelwright.device.libraries.triangles import operated

_RELU, _BIAS, _GELU = 2, 4, 32
"""Bits of cublasLtEpilogue_t."""


def matmul(
    call: Call, t: NumberType, transa: int, transb: int, m: int, n: int, k: int, alpha: Number, beta: Number, scale: int,
    a: int, a_type: int, lda: int, stride_a: int, b: int, b_type: int, ldb: int, stride_b: int,
    c: int, c_type: int, ldc: int, stride_c: int, d: int, d_type: int, ldd: int, stride_d: int,
    count: int, epilogue: int, bias: int, bias_type: int,
) -> None:  # fmt: skip
    """``cublasLtMatmul``: what the module says, on column-major matrices of ``count`` batches."""
    factor, keep = alpha.value(BY_NUMBER[scale]), beta.value(BY_NUMBER[scale])
    a_shape, b_shape = (m, k) if transa == 0 else (k, m), (k, n) if transb == 0 else (n, k)
    call.work(BY_NUMBER[a_type], float(count) * m * n * k)
    into = call.matrices("D", d, m, n, ldd, stride_d, count, BY_NUMBER[d_type], reads=False, writes=True)
    made: Array = np.zeros((count, m, n), into.type.compute)
    if keep != 0:
        made = made + keep * call.matrices("C", c, m, n, ldc, stride_c, count, BY_NUMBER[c_type]).load()
    if factor != 0 and k > 0:
        left = operated(call.matrices("A", a, *a_shape, lda, stride_a, count, BY_NUMBER[a_type]).load(), transa)
        right = operated(call.matrices("B", b, *b_shape, ldb, stride_b, count, BY_NUMBER[b_type]).load(), transb)
        # Of whole numbers the sums are exact in double precision, and wrap around at 32 bits.
        product = np.matmul(right.swapaxes(1, 2), left.swapaxes(1, 2)).swapaxes(1, 2)
        made = made + (int(factor) * product.astype(np.int64) if into.type is I32 else factor * product)
    if epilogue & _BIAS:
        made = made + call.vector("the bias", bias, m, 1, BY_NUMBER[bias_type]).load()[None, :, None]
    if epilogue & _RELU:
        made = np.maximum(made, 0)
    if epilogue & _GELU:
        made = _gelu(made)
    into.store(made)


def _gelu(x: Array) -> Array:
    """The approximation with tanh, which cublasLt documents."""
    half = x.dtype.type(0.5)
    inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    made: Array = half * x * (1 + np.tanh(inner))
    return made
