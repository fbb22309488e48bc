"""Level 1 of BLAS: vectors. Each routine takes its call, the type of its numbers, and the arguments of the public function."""

from __future__ import annotations

import math

import numpy as np

from kernelwright.device.libraries.number_types import BY_NUMBER, F32, F64, I32, REAL_PART, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number


def axpy(call: Call, t: NumberType, n: int, alpha: Number, x: int, incx: int, y: int, incy: int) -> None:
    """y = alpha x + y"""
    _axpy(call, n, alpha, t, x, t, incx, y, t, incy)


def axpy_ex(
    call: Call, t: NumberType, n: int, alpha: Number, alpha_type: int, x: int, x_type: int, incx: int, y: int, y_type: int,
    incy: int,
) -> None:  # fmt: skip
    """``cublasAxpyEx``: y += alpha x, types by cuBLAS's numbers."""
    _axpy(call, n, alpha, BY_NUMBER[alpha_type], x, BY_NUMBER[x_type], incx, y, BY_NUMBER[y_type], incy)


def _axpy(
    call: Call,
    n: int,
    alpha: Number,
    ta: NumberType,
    x: int,
    tx: NumberType,
    incx: int,
    y: int,
    ty: NumberType,
    incy: int,
) -> None:
    a = alpha.value(ta)
    if a == 0:
        return
    xs, ys = call.vector("x", x, n, incx, tx), call.vector("y", y, n, incy, ty, writes=True)
    call.work(ty, n)
    ys.store(a * xs.load() + ys.load())


def scal(call: Call, t: NumberType, n: int, alpha: Number, x: int, incx: int) -> None:
    """x = alpha x"""
    _scal(call, n, alpha, t, x, t, incx)


def real_scal(call: Call, t: NumberType, n: int, alpha: Number, x: int, incx: int) -> None:
    """x = alpha x, of complex x and real alpha"""
    _scal(call, n, alpha, REAL_PART[t.name], x, t, incx)


def scal_ex(
    call: Call,
    t: NumberType,
    n: int,
    alpha: Number,
    alpha_type: int,
    x: int,
    x_type: int,
    incx: int,
) -> None:
    """``cublasScalEx``: x *= alpha."""
    _scal(call, n, alpha, BY_NUMBER[alpha_type], x, BY_NUMBER[x_type], incx)


def _scal(call: Call, n: int, alpha: Number, ta: NumberType, x: int, tx: NumberType, incx: int) -> None:
    xs = call.vector("x", x, n, incx, tx, writes=True)
    call.work(tx, n)
    xs.store(alpha.value(ta) * xs.load())


def copy(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int) -> None:
    """y = x"""
    xs, ys = call.vector("x", x, n, incx, t), call.vector("y", y, n, incy, t, reads=False, writes=True)
    ys.stored[...] = xs.stored.copy()


def swap(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int) -> None:
    """``cublas<t>swap``: x and y exchanged."""
    xs, ys = call.vector("x", x, n, incx, t, writes=True), call.vector("y", y, n, incy, t, writes=True)
    xs.stored[...], ys.stored[...] = ys.stored.copy(), xs.stored.copy()


def dot(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int, result: Number) -> None:
    """The sum of x[i] y[i]; 0 of no numbers."""
    _dot(call, n, x, t, incx, y, t, incy, result, t, False)


def dotc(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int, result: Number) -> None:
    """With x conjugated."""
    _dot(call, n, x, t, incx, y, t, incy, result, t, True)


def dot_ex(
    call: Call, t: NumberType, n: int, x: int, x_type: int, incx: int, y: int, y_type: int, incy: int, result: Number,
    result_type: int,
) -> None:  # fmt: skip
    """``cublasDotEx``, ``cublasDotcEx``: the sum of products."""
    types = BY_NUMBER[x_type], BY_NUMBER[y_type], BY_NUMBER[result_type]
    _dot(call, n, x, types[0], incx, y, types[1], incy, result, types[2], call.name.startswith("cublasDotc"))


def _dot(
    call: Call, n: int, x: int, tx: NumberType, incx: int, y: int, ty: NumberType, incy: int, result: Number,
    tr: NumberType, is_conjugate: bool,
) -> None:  # fmt: skip
    xs, ys = call.vector("x", x, n, incx, tx).load(), call.vector("y", y, n, incy, ty).load()
    call.work(ty, max(n, 0))
    result.answer(np.dot(xs.conj() if is_conjugate else xs, ys) if n > 0 else 0, tr)


def nrm2(call: Call, t: NumberType, n: int, x: int, incx: int, result: Number) -> None:
    """The square root of the sum of squares, without overflow on the way; 0 of no numbers."""
    _nrm2(call, n, x, t, incx, result, REAL_PART[t.name])


def nrm2_ex(
    call: Call,
    t: NumberType,
    n: int,
    x: int,
    x_type: int,
    incx: int,
    result: Number,
    result_type: int,
) -> None:
    """``cublasNrm2Ex``: the Euclidean norm."""
    _nrm2(call, n, x, BY_NUMBER[x_type], incx, result, BY_NUMBER[result_type])


def _nrm2(call: Call, n: int, x: int, tx: NumberType, incx: int, result: Number, tr: NumberType) -> None:
    if n < 1 or incx < 1:
        result.answer(0, tr)
        return
    stored = call.vector("x", x, n, incx, tx).load()
    wide = stored.astype(np.complex128 if np.iscomplexobj(stored) else np.float64, copy=False)
    call.work(tx, n)
    squares = float(np.vdot(wide, wide).real)
    if _SMALLEST < squares < math.inf:
        result.answer(math.sqrt(squares), tr)
        return
    values = np.abs(wide)
    largest = values.max()
    scale = largest if np.isfinite(largest) and largest > 0 else 1.0
    result.answer(scale * math.sqrt(float(np.sum(np.square(values / scale)))), tr)


_SMALLEST = 1e-280
"""Below it a sum of squares may have lost some of them."""


def asum(call: Call, t: NumberType, n: int, x: int, incx: int, result: Number) -> None:
    """The sum of |re| + |im|."""
    tr = REAL_PART[t.name]
    if n < 1 or incx < 1:
        result.answer(0, tr)
        return
    call.work(t, n)
    result.answer(_magnitudes(call, t, n, x, incx).sum(dtype=np.float64), tr)


def amax(call: Call, t: NumberType, n: int, x: int, incx: int, result: Number) -> None:
    """The smallest index, from 1, with the largest |re| + |im|; 0 of no numbers."""
    _extreme(call, t, n, x, incx, result, 1)


def amin(call: Call, t: NumberType, n: int, x: int, incx: int, result: Number) -> None:
    """``cublasI<t>amin``: the place of the least magnitude, from 1."""
    _extreme(call, t, n, x, incx, result, -1)


def _extreme(call: Call, t: NumberType, n: int, x: int, incx: int, result: Number, sign: int) -> None:
    if n < 1 or incx < 1:
        result.answer(0, I32)
        return
    call.work(t, n)
    result.answer(1 + int(np.argmax(sign * _magnitudes(call, t, n, x, incx))), I32)


def _magnitudes(call: Call, t: NumberType, n: int, x: int, incx: int) -> Array:
    values = call.vector("x", x, n, incx, t).load()
    found: Array = np.abs(values.real) + np.abs(values.imag) if np.iscomplexobj(values) else np.abs(values)
    return found


def rot(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int, cosine: Number, sine: Number) -> None:
    """x, y = c x + s y, c y - s x"""
    c, s = cosine.value(t), sine.value(t)
    _turn(call, t, n, x, incx, y, incy, ((c, s), (-s, c)))


def rotm(call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int, parameters: Number) -> None:
    """A modified rotation: the flag says which entries of the matrix are given, as in BLAS."""
    flag, h11, h21, h12, h22 = parameters.values(t, 5)
    one = t.compute(1)
    if flag == -2:
        return
    if flag == 0:
        h11 = h22 = one
    elif flag == 1:
        h12, h21 = one, -one
    _turn(call, t, n, x, incx, y, incy, ((h11, h12), (h21, h22)))


def _turn(
    call: Call, t: NumberType, n: int, x: int, incx: int, y: int, incy: int, h: tuple[tuple[float, float], ...]
) -> None:
    xs, ys = call.vector("x", x, n, incx, t, writes=True), call.vector("y", y, n, incy, t, writes=True)
    call.work(t, 4 * n)
    a, b = xs.load().copy(), ys.load().copy()
    xs.store(h[0][0] * a + h[0][1] * b)
    ys.store(h[1][0] * a + h[1][1] * b)


def rotg(call: Call, t: NumberType, a: Number, b: Number, cosine: Number, sine: Number) -> None:
    """The rotation that makes (a, b) to (r, 0): a becomes r, b what BLAS calls z."""
    x, y = float(a.value(t)), float(b.value(t))
    call.work(F64 if t is F64 else F32, 8)
    r = math.copysign(math.hypot(x, y), x if abs(x) > abs(y) else y)
    c, s = (x / r, y / r) if r else (1.0, 0.0)
    z = s if abs(x) > abs(y) else 1 / c if c else 1.0
    if not r:
        r = z = 0.0
    for number, value in ((a, r), (b, z), (cosine, c), (sine, s)):
        number.answer(value, t)
