"""cuSPARSE's products. Sums are formed in double precision and rounded once; what is multiplied by a beta of 0 is not read."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.device.libraries.blas_matrix_vector import scaled
from kernelwright.device.libraries.number_types import BY_NUMBER, I64, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number, Operand
from kernelwright.device.libraries.sparse.operands import (
    CSC,
    DenseMatrix,
    DenseVector,
    SparseMatrix,
    SparseVector,
    operated,
    operated_dense,
    sums,
    wide,
)

_CHUNK = 1 << 20
"""Numbers of a dense operand that are gathered at a time."""


def _writes(operand: DenseVector | DenseMatrix, beta: Number, t: NumberType) -> Operand:
    return operand.operand(reads=bool(beta.value(t) != 0), writes=True)


def axpby(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, *rest: int) -> None:
    """Y = alpha X + beta Y"""
    words = iter(rest)
    x, y = SparseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    where, values = x.indices(), x.values().load()
    into = _writes(y, beta, BY_NUMBER[type])
    made = scaled(beta, BY_NUMBER[type], into)
    np.add.at(made, where, alpha.value(BY_NUMBER[type]) * values)
    call.work(y.type, float(len(where) + y.size))
    into.store(made)


def gather(call: Call, t: NumberType, *rest: int) -> None:
    """X's values = those of Y at X's indices"""
    words = iter(rest)
    x, y = SparseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    where, found = x.indices(), y.operand().stored
    x.values(reads=False, writes=True).stored[...] = found[where]


def scatter(call: Call, t: NumberType, *rest: int) -> None:
    """Y's values at X's indices = X's"""
    words = iter(rest)
    x, y = SparseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    where, given = x.indices(), x.values().stored
    y.operand(reads=False, writes=True).stored[where] = given


def rot(call: Call, t: NumberType, type: int, c: Number, s: Number, *rest: int) -> None:
    """X, Y = c X + s Y, c Y - s X at X's indices"""
    words = iter(rest)
    x, y = SparseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    cosine, sine = c.value(BY_NUMBER[type]), s.value(BY_NUMBER[type])
    where, xs, ys = x.indices(), x.values(writes=True), y.operand(writes=True)
    old_x, old_y = xs.load().copy(), ys.load()[where]
    call.work(y.type, 4.0 * len(where))
    xs.store(cosine * old_x + sine * old_y)
    ys.stored[where] = y.type.round(cosine * old_y - sine * old_x)


def spvv(call: Call, t: NumberType, type: int, result: Number, op: int, *rest: int) -> None:
    """The sum of op(X) Y"""
    words = iter(rest)
    x, y = SparseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    where, values = x.indices(), x.values().load()
    terms = (values.conj() if op == 2 else values) * y.operand().load()[where].astype(np.result_type(values, float))
    call.work(y.type, float(len(where)))
    result.answer(terms.sum(), BY_NUMBER[type])


def spmv(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, op: int, *rest: int) -> None:
    """Y = alpha op(A) X + beta Y"""
    words = iter(rest)
    a = SparseMatrix.read(call, "A", words)
    x, y = DenseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    compute = BY_NUMBER[type]
    rows, columns, values = operated(op, *a.entries())
    into = _writes(y, beta, compute)
    call.work(compute, float(len(values)))
    product = sums(rows, wide(values) * x.operand().load()[columns], y.size)
    into.store(alpha.value(compute) * product + scaled(beta, compute, into))


def spmm(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, op: int, op_b: int, *rest: int) -> None:
    """C = alpha op(A) op(B) + beta C, A sparse"""
    words = iter(rest)
    a = SparseMatrix.read(call, "A", words)
    b, c = DenseMatrix.read(call, "B", words), DenseMatrix.read(call, "C", words)
    compute = BY_NUMBER[type]
    into = _writes(c, beta, compute)
    right = operated_dense(op_b, b.operand().load())
    made = np.empty((c.batch, c.rows, c.columns), np.result_type(wide(right), a.type.compute))
    for i in range(c.batch):
        if i == 0 or a.batch > 1:
            rows, columns, values = operated(op, *a.entries(i if a.batch > 1 else 0))
            values = wide(values)
        dense = right[i if b.batch > 1 else 0]
        for j in range(c.columns):
            made[i, :, j] = sums(rows, values * dense[columns, j], c.rows)
        call.work(compute, float(len(values)) * c.columns)
    into.store(alpha.value(compute) * made + scaled(beta, compute, into))


def sddmm(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, op: int, op_b: int, *rest: int) -> None:
    """C = alpha (op(A) op(B)) + beta C where C has entries"""
    words = iter(rest)
    a, b = DenseMatrix.read(call, "A", words), DenseMatrix.read(call, "B", words)
    c = SparseMatrix.read(call, "C", words)
    compute = BY_NUMBER[type]
    left, right = operated_dense(op, a.operand().load()), operated_dense(op_b, b.operand().load())
    inner = left.shape[2]
    for i in range(c.batch):
        rows, columns = c.pattern(i)
        if c.format == CSC:
            rows, columns = columns, rows
        of_a, of_b = left[i if a.batch > 1 else 0], right[i if b.batch > 1 else 0]
        found = np.empty(len(rows), np.result_type(wide(left), wide(right)))
        step = max(_CHUNK // max(inner, 1), 1)
        for at in range(0, len(rows), step):
            some = slice(at, at + step)
            found[some] = np.einsum("ek,ke->e", wide(of_a[rows[some]]), wide(of_b[:, columns[some]]))
        call.work(compute, float(len(rows)) * inner)
        into = c.values(i, reads=bool(beta.value(compute) != 0), writes=True)
        into.stored = into.stored[c.span(i)]
        into.store(alpha.value(compute) * found + scaled(beta, compute, into))


def spgemm_products(call: Call, t: NumberType, count: Number, *rest: int) -> None:
    """How many multiplications A B takes"""
    words = iter(rest)
    a, b = SparseMatrix.read(call, "A", words), SparseMatrix.read(call, "B", words)
    _, inner = a.pattern()
    count.answer(np.diff(b.offsets())[inner].sum(), I64)


def spgemm_count(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, count: Number, *rest: int) -> None:
    """How many entries A B + C has, those of C only with a beta"""
    keys, _ = _spgemm(call, type, alpha, beta, rest)
    count.answer(len(keys), I64)


def spgemm(call: Call, t: NumberType, type: int, alpha: Number, beta: Number, *rest: int) -> None:
    """C = alpha A B + beta C, all sparse, by rows, columns in order"""
    keys, values = _spgemm(call, type, alpha, beta, rest)
    c = SparseMatrix.read(call, "C", iter(rest[-16:]))
    c.write_pattern(keys // c.columns, keys % c.columns, values)


def _spgemm(call: Call, type: int, alpha: Number, beta: Number, rest: tuple[int, ...]) -> tuple[Array, Array]:
    """Places, row times columns plus column, in order, and what stands there."""
    words = iter(rest)
    a, b, c = (SparseMatrix.read(call, name, words) for name in "ABC")
    factor, keep = alpha.value(BY_NUMBER[type]), beta.value(BY_NUMBER[type])
    rows, inner, values = a.entries()
    _, columns_of_b, values_of_b = b.entries()
    offsets = b.offsets() - b.span().start
    sizes = np.diff(offsets)[inner]
    # For each entry of A all of B's row: which entries of B these are, run by run.
    total = int(sizes.sum())
    starts = np.repeat(offsets[:-1][inner] - np.concatenate(([0], np.cumsum(sizes)[:-1]))[: len(inner)], sizes)
    of_b = starts + np.arange(total)
    keys = np.repeat(rows, sizes) * c.columns + columns_of_b[of_b]
    terms = factor * np.repeat(wide(values), sizes) * values_of_b[of_b]
    call.work(BY_NUMBER[type], float(total))
    if keep != 0 and c.count:
        c_rows, c_columns, c_values = c.entries()
        keys = np.concatenate((keys, c_rows * c.columns + c_columns))
        terms = np.concatenate((terms, keep * wide(c_values)))
    places, which = np.unique(keys, return_inverse=True)
    return places, sums(which.ravel(), terms, len(places))


PRODUCTS: dict[str, Any] = {
    "Axpby": axpby,
    "Gather": gather,
    "Scatter": scatter,
    "Rot": rot,
    "SpVV": spvv,
    "SpMV": spmv,
    "SpMM": spmm,
    "SDDMM": sddmm,
    "SpGEMM_workEstimation": spgemm_products,
    "SpGEMM_compute": spgemm_count,
    "SpGEMM_copy": spgemm,
}
