"""cuSPARSE's triangular systems, and LU factors where a matrix has entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import BY_NUMBER, I32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number
from kernelwright.device.libraries.sparse_operands import (
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
    """Rows that wait for the same number of others before them are solved together."""
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
    rows, columns, values = rows[below][order], columns[below][order], values[below][order]
    level = _levels(a.rows, rows, columns)
    made = np.array(right, np.result_type(right, values), order="C")
    entry_order = np.argsort(level[rows], kind="stable")
    row_order = np.argsort(level, kind="stable")
    entry_ends = np.searchsorted(level[rows][entry_order], np.arange(level.max(initial=0) + 1), side="right")
    row_ends = np.searchsorted(level[row_order], np.arange(level.max(initial=0) + 1), side="right")
    entry_at = row_at = 0
    for entry_end, row_end in zip(entry_ends, row_ends, strict=True):
        some, solved = entry_order[entry_at:entry_end], row_order[row_at:row_end]
        np.subtract.at(made, rows[some], values[some, None] * made[columns[some]])
        made[solved] /= diagonal[solved, None]
        entry_at, row_at = entry_end, row_end
    return made[::-1] if is_upper else made


def _levels(count: int, rows: Array, columns: Array) -> Array:
    """For each row how many rows must be solved before it, one after the other; entries are in order of rows."""
    level = [0] * count
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if level[column] >= level[row]:
            level[row] = level[column] + 1
    return np.array(level, np.int64)


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
}
