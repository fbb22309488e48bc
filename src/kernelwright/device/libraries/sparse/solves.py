"""cuSPARSE's triangular systems, and LU factors where a matrix has entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import BY_NUMBER, I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number
from kernelwright.device.libraries.sparse.operands import (
    DenseMatrix,
    DenseVector,
    SparseMatrix,
    operated,
    operated_dense,
    wide,
)


def spsv(call: Call, t: NumberType, type: int, alpha: Number, op: int, *rest: int) -> None:
    """op(A) Y = alpha X, A one triangle of the matrix"""
    words = iter(rest)
    a = SparseMatrix.read(call, "A", words)
    x, y = DenseVector.read(call, "X", words), DenseVector.read(call, "Y", words)
    right = alpha.value(BY_NUMBER[type]) * wide(x.operand().load())
    into = y.operand(reads=False, writes=True)
    call.work(BY_NUMBER[type], float(a.count))
    into.store(_solved(a, op, right[:, None])[:, 0])


def spsm(call: Call, t: NumberType, type: int, alpha: Number, op: int, op_b: int, *rest: int) -> None:
    """op(A) C = alpha op(B)"""
    words = iter(rest)
    a = SparseMatrix.read(call, "A", words)
    b, c = DenseMatrix.read(call, "B", words), DenseMatrix.read(call, "C", words)
    right = alpha.value(BY_NUMBER[type]) * wide(operated_dense(op_b, b.operand().load())[0])
    into = c.operand(reads=False, writes=True)
    call.work(BY_NUMBER[type], float(a.count) * c.columns)
    into.store(_solved(a, op, right)[None])


def _solved(a: SparseMatrix, op: int, right: Array) -> Array:
    """Row by row, in Python's own numbers for one right side: NumPy would take longer for a row's few entries than the row does."""
    rows, columns, values = operated(op, *a.entries())
    is_upper = a.is_upper != (op != 0)
    if is_upper:  # the last row first: the same matrix, turned round
        rows, columns, right = a.rows - 1 - rows, a.rows - 1 - columns, right[::-1]
    values = wide(values)
    diagonal = np.ones(a.rows, values.dtype)
    if not a.has_unit_diagonal:
        diagonal[:] = 0
        at = rows == columns
        np.add.at(diagonal, rows[at], values[at])
    below = rows > columns
    order = np.argsort(rows[below], kind="stable")
    ends = np.searchsorted(rows[below][order], np.arange(a.rows), side="right").tolist()
    others, factors = columns[below][order].tolist(), values[below][order].tolist()
    made: list[Any] = right[:, 0].tolist() if right.shape[1] == 1 else list(right)
    inverse = (1 / diagonal).tolist()  # infinite where there is nothing to divide by, as on a GPU
    begin = 0
    for row, end in enumerate(ends):
        rest = made[row]
        for entry in range(begin, end):
            rest = rest - factors[entry] * made[others[entry]]
        begin = end
        made[row] = rest * inverse[row]
    solved = np.array(made, np.result_type(right, values)).reshape(right.shape)
    return solved[::-1] if is_upper else solved


def ilu(call: Call, t: NumberType, *rest: int) -> None:
    """A = L U where A has entries, in place: L below the diagonal, its own being 1, and U"""
    a = SparseMatrix.read(call, "A", iter(rest))
    into = a.values(writes=True)
    rows, columns, given = a.entries()
    values = wide(given).tolist()
    lines: list[dict[int, int]] = [{} for _ in range(a.rows)]
    for at, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        lines[row][column] = at
    steps = 0
    for row, line in enumerate(lines):
        for before in sorted(column for column in line if column < row):
            upper = lines[before]
            if before not in upper or values[upper[before]] == 0:
                continue  # told by cusparseXcsrilu02_zeroPivot
            factor = values[line[before]] = values[line[before]] / values[upper[before]]
            for column, at in upper.items():
                if column > before and column in line:
                    values[line[column]] -= factor * values[at]
            steps += len(upper)
    call.work(a.type, float(steps))
    into.stored[a.span()] = into.type.round(np.array(values, wide(given).dtype))


def cholesky(call: Call, t: NumberType, *rest: int) -> None:
    """A = L L^H where A has entries below or on the diagonal, in place; those above stay"""
    a = SparseMatrix.read(call, "A", iter(rest))
    into = a.values(writes=True)
    rows, columns, given = a.entries()
    values = wide(given).tolist()
    lines: list[dict[int, int]] = [{} for _ in range(a.rows)]
    for at in np.flatnonzero(columns <= rows)[np.lexsort((columns[columns <= rows], rows[columns <= rows]))].tolist():
        lines[rows[at]][int(columns[at])] = at
    steps = 0
    for row, line in enumerate(lines):
        for column, at in line.items():
            other = lines[column]
            shared = [(place, other[k]) for k, place in line.items() if k < column and k in other]
            rest_ = values[at] - sum(values[one] * np.conj(values[two]) for one, two in shared)
            if column == row:
                values[at] = np.sqrt(rest_)
            elif column in other and values[other[column]] != 0:
                values[at] = rest_ / np.conj(values[other[column]])
            steps += len(shared) + 1
    call.work(a.type, float(steps))
    into.stored[a.span()] = into.type.round(np.array(values, wide(given).dtype))


def zero_pivot(call: Call, t: NumberType, position: Number, *rest: int) -> None:
    """The first row, from the index base on, whose element on the diagonal is 0 or not there; -1 without one"""
    a = SparseMatrix.read(call, "A", iter(rest))
    rows, columns, values = a.entries()
    has_pivot = np.zeros(a.rows, bool)
    has_pivot[rows[(rows == columns) & (values != 0)]] = True
    missing = np.flatnonzero(~has_pivot)
    position.answer(missing[0] + a.base if len(missing) else -1, I32)


SOLVES: dict[str, Any] = {
    "SpSV_solve": spsv,
    "SpSM_solve": spsm,
    "Xcsrilu02_zeroPivot": zero_pivot,
    **{f"{letter}csrilu02": ilu for letter in "SDCZ"},
    **{f"{letter}csric02": cholesky for letter in "SDCZ"},
}
