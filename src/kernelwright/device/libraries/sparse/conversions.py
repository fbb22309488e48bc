"""cuSPARSE's ways from one format to another, counts and sorts."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import I32, I64, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number
from kernelwright.device.libraries.sparse.operands import CSC, DenseMatrix, SparseMatrix, within

_NUMERIC = 1
"""CUSPARSE_ACTION_NUMERIC."""


def coo2csr(call: Call, t: NumberType, rows: int, count: int, m: int, offsets: int, base: int) -> None:
    """Offsets of rows, from sorted row indices"""
    found = call.vector("cooRowInd", rows, count, 1, I32).load().astype(np.int64) - base
    sizes = np.bincount(within("cooRowInd", found, m), minlength=m)
    into = call.vector("csrRowPtr", offsets, m + 1, 1, I32, reads=False, writes=True)
    into.store(np.concatenate(([0], np.cumsum(sizes))) + base)


def csr2coo(call: Call, t: NumberType, offsets: int, count: int, m: int, rows: int, base: int) -> None:
    """Row indices, from offsets"""
    found = call.vector("csrRowPtr", offsets, m + 1, 1, I32).load().astype(np.int64) - base
    within("csrRowPtr", found, count + 1)
    sizes = np.maximum(np.diff(found), 0)
    into = call.vector("cooRowInd", rows, int(sizes.sum()), 1, I32, reads=False, writes=True)
    into.store(np.repeat(np.arange(m), sizes) + base)


def csr2csc(call: Call, t: NumberType, action: int, *rest: int) -> None:
    """The same matrix by columns, rows in order"""
    words = iter(rest)
    a, b = SparseMatrix.read(call, "csr", words), SparseMatrix.read(call, "csc", words)
    rows, columns = a.pattern()
    order = np.argsort(columns, kind="stable")
    values = a.values().stored[a.span()][order] if action == _NUMERIC else None
    b.write_pattern(columns[order], rows[order], None)
    if values is not None:
        into = call.vector("cscVal", b.values_at, len(values), 1, b.type, reads=False, writes=True)
        into.stored[...] = values


def sparse_to_dense(call: Call, t: NumberType, *rest: int) -> None:
    """B = A, with zeros where A has no entry"""
    words = iter(rest)
    a, b = SparseMatrix.read(call, "A", words), DenseMatrix.read(call, "B", words)
    rows, columns, _ = a.entries()
    stored = b.operand(reads=False, writes=True).stored[0]
    stored[...] = 0
    stored[rows, columns] = a.values().stored[a.span()]


def count_dense(call: Call, t: NumberType, count: Number, *rest: int) -> None:
    """How many elements are not 0"""
    words = iter(rest)
    SparseMatrix.read(call, "B", words)
    count.answer(np.count_nonzero(DenseMatrix.read(call, "A", words).operand().load()), I64)


def dense_to_sparse(call: Call, t: NumberType, *rest: int) -> None:
    """B = the elements of A that are not 0"""
    words = iter(rest)
    b, a = SparseMatrix.read(call, "B", words), DenseMatrix.read(call, "A", words)
    elements = a.operand().load()[0]
    outer, inner = np.nonzero(elements.T if b.format == CSC else elements)
    b.write_pattern(outer, inner, elements[(inner, outer) if b.format == CSC else (outer, inner)])


def count_lines(call: Call, t: NumberType, total: Number, direction: int, *rest: int) -> None:
    """How many elements of each row, or column, are not 0, and how many in all"""
    *words, counts = rest
    elements = DenseMatrix.read(call, "A", iter(words)).operand().load()[0]
    found = np.count_nonzero(elements, axis=1 - direction)
    call.vector("nnzPerRowColumn", counts, len(found), 1, I32, reads=False, writes=True).store(found)
    total.answer(found.sum(), I32)


def identity(call: Call, t: NumberType, n: int, p: int) -> None:
    """0, 1, 2, ..."""
    call.vector("p", p, n, 1, I32, reads=False, writes=True).store(np.arange(n))


def csrsort(call: Call, t: NumberType, p: int, *rest: int) -> None:
    """Column indices in order within each row; P takes part in what moves"""
    a = SparseMatrix.read(call, "A", iter(rest))
    offsets = call.vector("csrRowPtr", a.first_at, a.rows + 1, 1, I32).load().astype(np.int64) - a.base
    within("csrRowPtr", offsets, a.count + 1)
    columns = call.vector("csrColInd", a.second_at, a.count, 1, I32, writes=True)
    rows = np.repeat(np.arange(a.rows), np.maximum(np.diff(offsets), 0))
    order = np.arange(a.count)
    first, last = int(offsets[0]), int(offsets[0]) + len(rows)
    order[first:last] = first + np.lexsort((columns.stored[first:last], rows))
    _move(call, order, [columns.stored], p)


def coosort_by_row(call: Call, t: NumberType, p: int, *rest: int) -> None:
    """Entries in order of rows, then of columns"""
    _coosort(call, p, rest, by_row=True)


def coosort_by_column(call: Call, t: NumberType, p: int, *rest: int) -> None:
    """Entries in order of columns, then of rows"""
    _coosort(call, p, rest, by_row=False)


def _coosort(call: Call, p: int, rest: tuple[int, ...], by_row: bool) -> None:
    a = SparseMatrix.read(call, "A", iter(rest))
    rows = call.vector("cooRows", a.first_at, a.count, 1, I32, writes=True).stored
    columns = call.vector("cooCols", a.second_at, a.count, 1, I32, writes=True).stored
    order = np.lexsort((columns, rows) if by_row else (rows, columns))
    _move(call, order, [rows, columns], p)


def _move(call: Call, order: Array, arrays: list[Array], p: int) -> None:
    """Puts arrays, and P where there is one, in order."""
    if p:
        arrays = [*arrays, call.vector("P", p, len(order), 1, I32, writes=True).stored]
    for array in arrays:
        array[...] = array[order]


CONVERSIONS: dict[str, Any] = {
    "Xcoo2csr": coo2csr,
    "Xcsr2coo": csr2coo,
    "Csr2cscEx2": csr2csc,
    "SparseToDense": sparse_to_dense,
    "DenseToSparse_analysis": count_dense,
    "DenseToSparse_convert": dense_to_sparse,
    "CreateIdentityPermutation": identity,
    "Xcsrsort": csrsort,
    "XcoosortByRow": coosort_by_row,
    "XcoosortByColumn": coosort_by_column,
    **{f"{letter}nnz": count_lines for letter in "SDCZ"},
}
