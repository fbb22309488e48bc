"""cuSPARSE's routines against the same on dense matrices: formats, index bases and widths, transposes, types, batches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.libraries.routine_call import MemoryFault

from .routine_calls import Answer, Array, Memory, RandomMatrices, answer, memory

CSR, CSC, COO = 1, 2, 3
NUMBERS: dict[Any, int] = {np.float32: 0, np.float64: 1, np.float16: 2, np.complex64: 4, np.complex128: 5}
"""cudaDataType."""
WIDTHS: dict[int, Any] = {2: np.int32, 3: np.int64}
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13, np.complex64: 1e-5, np.complex128: 1e-13, np.float16: 2e-2}

types = st.sampled_from([np.float32, np.float64, np.complex64, np.complex128])
formats = st.sampled_from([CSR, CSC, COO])
sizes = st.integers(1, 9)
operations = st.integers(0, 2)
bases = st.integers(0, 1)
widths = st.sampled_from([2, 3])
factors = st.sampled_from([0.0, 1.0, -0.5])
seeds = st.integers(0, 1 << 30)
FEW = settings(max_examples=50, deadline=None)


class Data(RandomMatrices):
    def sparse(self, rows: int, columns: int) -> Array:
        """About a third of the elements are not 0; a row and a column may have none."""
        return np.where(self.random.random((rows, columns)) < 0.35, self.dense(rows, columns), 0).astype(self.dtype)

    def number(self, value: float) -> Any:
        return self.dtype(value)


class Sparse:
    """A dense matrix as a sparse one in memory."""

    def __init__(self, m: Memory, dense: Array, format: int = CSR, base: int = 0, width: int = 2, fill: int = 0, diagonal: int = 0) -> None:  # fmt: skip
        self.m, self.dense, self.format, self.base, self.width = m, dense, format, base, width
        self.fill, self.diagonal = fill, diagonal
        outer, inner = np.nonzero(dense.T if format == CSC else dense)
        self.values = dense[(inner, outer) if format == CSC else (outer, inner)]
        if format == COO:
            first = outer
        else:
            lines = dense.shape[1] if format == CSC else dense.shape[0]
            first = np.concatenate(([0], np.cumsum(np.bincount(outer, minlength=lines))))
        self.first = m.put((first + base).astype(WIDTHS[width]))
        self.second = m.put((inner + base).astype(WIDTHS[width]))
        self.at = m.put(self.values)
        self.count = len(inner)

    def words(self, batch: int = 1, first_stride: int = 0, values_stride: int = 0) -> tuple[int, ...]:
        rows, columns = self.dense.shape
        return (
            self.format, rows, columns, self.count, self.base, self.width, self.width, NUMBERS[self.dense.dtype.type],
            self.fill, self.diagonal, batch, first_stride, values_stride, self.first, self.second, self.at,
        )  # fmt: skip


def vector_words(m: Memory, values: Array) -> tuple[int, ...]:
    return len(values), NUMBERS[values.dtype.type], m.put(values)


def dense_words(m: Memory, values: Array, by_row: bool, pad: int = 0) -> tuple[int, ...]:
    """rows, columns, ld, type, order, batch, stride, address."""
    rows, columns = values.shape
    matrix = values.T if by_row else values
    address = m.put_matrix(matrix, matrix.shape[0] + pad)
    return rows, columns, matrix.shape[0] + pad, NUMBERS[values.dtype.type], 2 if by_row else 1, 1, 0, address


def get_dense(m: Memory, words: tuple[int, ...], like: Array) -> Array:
    by_row = words[4] == 2
    found = m.get_matrix(words[7], np.ascontiguousarray(like.T) if by_row else like, words[2])
    return found.T if by_row else found


def operated(op: int, matrix: Array) -> Array:
    return [matrix, matrix.T, matrix.conj().T][op]


def close(found: Array, expected: Array) -> None:
    tolerance = TOLERANCE[np.asarray(found).dtype.type]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 30)


# ---- products ----


@FEW
@given(types, formats, sizes, sizes, operations, bases, widths, factors, factors, seeds)
def test_spmv(dtype: Any, format: int, rows: int, columns: int, op: int, base: int, width: int, a: float, b: float, seed: int) -> None:  # fmt: skip
    data = Data(dtype, seed)
    dense = data.sparse(rows, columns)
    x, y = data.dense(operated(op, dense).shape[1]), data.dense(operated(op, dense).shape[0])
    if b == 0:
        y[:] = np.nan  # not read
    with memory() as m:
        target = vector_words(m, y)
        matrix = Sparse(m, dense, format, base, width)
        m.call("cusparseSpMV", NUMBERS[dtype], data.number(a), data.number(b), op, *matrix.words(), *vector_words(m, x), *target)  # fmt: skip
        close(m.get(target[2], y), a * (operated(op, dense) @ x) + (b * y if b else 0))


@FEW
@given(types, formats, sizes, sizes, sizes, operations, operations, st.booleans(), st.booleans(), factors, seeds)
def test_spmm(dtype: Any, format: int, rows: int, inner: int, columns: int, op: int, op_b: int, b_by_row: bool, c_by_row: bool, b: float, seed: int) -> None:  # fmt: skip
    data = Data(dtype, seed)
    left = data.sparse(rows, inner)
    right = data.dense(
        *((operated(op, left).shape[1], columns) if op_b == 0 else (columns, operated(op, left).shape[1]))
    )
    c = data.dense(operated(op, left).shape[0], columns)
    with memory() as m:
        target = dense_words(m, c, c_by_row, 1)
        source = dense_words(m, right, b_by_row, 2)
        matrix = Sparse(m, left, format)
        m.call("cusparseSpMM", NUMBERS[dtype], data.number(2), data.number(b), op, op_b, *matrix.words(), *source, *target)  # fmt: skip
        close(get_dense(m, target, c), 2 * (operated(op, left) @ operated(op_b, right)) + b * c)


def test_spmm_of_a_batch_and_in_half_precision() -> None:
    data = Data(np.float16, 3)
    left, right, c = data.sparse(4, 5), [data.dense(5, 3) for _ in range(2)], data.dense(8, 3)
    with memory() as m:
        flat = m.put(np.concatenate([each.T.ravel() for each in right]))
        into = m.put(np.concatenate([c[:4].T.ravel(), c[4:].T.ravel()]))
        source, target = (5, 3, 5, 2, 1, 2, 15, flat), (4, 3, 4, 2, 1, 2, 12, into)
        m.call("cusparseSpMM", 0, np.float32(1), np.float32(0), 0, 0, *Sparse(m, left).words(), *source, *target)
        found = m.get(into, np.empty((2, 3, 4), np.float16)).swapaxes(1, 2)
        for each, expected in zip(found, right, strict=True):
            close(each, left.astype(float) @ expected.astype(float))


@pytest.mark.parametrize("format", [CSR, COO])
def test_spmm_of_a_batch_of_sparse_matrices(format: int) -> None:
    """They lie behind each other, each with as many entries."""
    first = np.array([[1.0, 0, 2], [0, 3, 0]])
    second = np.array([[0.0, 4, 5], [6, 0, 0]])
    right = np.arange(6.0).reshape(3, 2)
    with memory() as m:
        both = [Sparse(m, each, format) for each in (first, second)]
        count, lines = both[0].count, both[0].count if format == COO else 3
        flat = [
            m.put(np.concatenate([m.get(getattr(each, name), np.empty(length, dtype)) for each in both]))
            for name, length, dtype in (("first", lines, np.int32), ("second", count, np.int32), ("at", count, float))
        ]
        words = both[0].words(2, lines, count)[:13]
        into = m.put(np.zeros(8))
        source, target = dense_words(m, right, False), (2, 2, 2, 1, 1, 2, 4, into)
        m.call("cusparseSpMM", 1, np.float64(1), np.float64(0), 0, 0, *words, *flat, *source, *target)
        found = m.get(into, np.empty((2, 2, 2))).swapaxes(1, 2)
        close(found, np.stack([first @ right, second @ right]))


@FEW
@given(types, sizes, sizes, sizes, operations, operations, factors, seeds)
def test_sddmm(dtype: Any, rows: int, inner: int, columns: int, op: int, op_b: int, b: float, seed: int) -> None:
    data = Data(dtype, seed)
    left = data.dense(*((rows, inner) if op == 0 else (inner, rows)))
    right = data.dense(*((inner, columns) if op_b == 0 else (columns, inner)))
    c = data.sparse(rows, columns)
    with memory() as m:
        matrix = Sparse(m, c, base=1)
        m.call("cusparseSDDMM", NUMBERS[dtype], data.number(1), data.number(b), op, op_b, *dense_words(m, left, False), *dense_words(m, right, True), *matrix.words())  # fmt: skip
        expected = np.where(c != 0, operated(op, left) @ operated(op_b, right) + b * c, 0)
        close(m.get(matrix.at, matrix.values), expected[c != 0])


@FEW
@given(types, sizes, sizes, sizes, factors, bases, seeds)
def test_spgemm(dtype: Any, rows: int, inner: int, columns: int, b: float, base: int, seed: int) -> None:
    data = Data(dtype, seed)
    left, right, c = data.sparse(rows, inner), data.sparse(inner, columns), data.sparse(rows, columns)
    expected = 2 * (left @ right) + b * c
    with memory() as m:
        a_, b_, c_ = (Sparse(m, each, base=base) for each in (left, right, c))
        given_ = NUMBERS[dtype], data.number(2), data.number(b)
        call = m.call("cusparseSpGEMM_compute", *given_, Answer(np.int64(0)), *a_.words(), *b_.words(), *c_.words())
        count = int(answer(call, np.int64))
        call = m.call("cusparseSpGEMM_workEstimation", Answer(np.int64(0)), *a_.words(), *b_.words())
        assert answer(call, np.int64) == ((left != 0).astype(int) @ (right != 0).astype(int)).sum()
        assert count >= np.count_nonzero(expected)
        # C's entries stay where they are while the product's are written elsewhere.
        if b == 0:
            c_ = Sparse(m, np.zeros_like(c), base=base)
            c_.second, c_.at = m.put(np.zeros(count, np.int32)), m.put(np.zeros(count, dtype))
            m.call("cusparseSpGEMM_copy", *given_, *a_.words(), *b_.words(), *c_.words())
            offsets = m.get(c_.first, np.empty(rows + 1, np.int32)) - base
            where = m.get(c_.second, np.empty(count, np.int32)) - base
            found = np.zeros_like(expected)
            for row in range(rows):
                own = where[offsets[row] : offsets[row + 1]]
                assert (np.diff(own) > 0).all()
                found[row, own] = m.get(c_.at, np.empty(count, dtype))[offsets[row] : offsets[row + 1]]
            close(found, expected)


@FEW
@given(types, sizes, bases, widths, factors, operations, seeds)
def test_sparse_vectors(dtype: Any, size: int, base: int, width: int, b: float, op: int, seed: int) -> None:
    data = Data(dtype, seed)
    dense, y = data.sparse(1, size)[0], data.dense(size)
    where = np.flatnonzero(dense)
    with memory() as m:
        indices, values = m.put((where + base).astype(WIDTHS[width])), m.put(dense[where])
        x = size, len(where), base, width, NUMBERS[dtype], indices, values
        target = vector_words(m, y)
        call = m.call("cusparseSpVV", NUMBERS[dtype], Answer(dtype(0)), op, *x, *target)
        close(answer(call, dtype), (dense.conj() if op == 2 else dense) @ y)
        m.call("cusparseAxpby", NUMBERS[dtype], data.number(2), data.number(b), *x, *target)
        expected = 2 * dense + b * y
        close(m.get(target[2], y), expected)
        m.call("cusparseGather", *x, *target)
        close(m.get(values, dense[where]), expected[where])
        m.call("cusparseRot", NUMBERS[dtype], data.number(0.5), data.number(-0.25), *x, *target)
        turned = np.where(dense != 0, 0.5 * expected + 0.25 * expected, expected)
        close(m.get(values, dense[where]), (0.5 * expected - 0.25 * expected)[where])
        close(m.get(target[2], y), turned)
        expected = 0.5 * expected - 0.25 * expected
        zeros = vector_words(m, np.zeros(size, dtype))
        m.call("cusparseScatter", *x, *zeros)
        close(m.get(zeros[2], y), np.where(dense != 0, expected, 0))


# ---- systems ----


@FEW
@given(types, st.sampled_from([CSR, COO, CSC]), st.integers(1, 12), operations, bases, bases, st.integers(1, 3), seeds)
def test_triangles(dtype: Any, format: int, n: int, op: int, fill: int, diagonal: int, columns: int, seed: int) -> None:
    data = Data(dtype, seed)
    dense = data.sparse(n, n) * data.number(0.3)
    dense[np.arange(n), np.arange(n)] = 2 + np.arange(n) % 3
    triangle = np.triu(dense) if fill else np.tril(dense)
    if diagonal:
        triangle[np.arange(n), np.arange(n)] = 1
    right = data.dense(n, columns)
    expected = np.linalg.solve(operated(op, triangle).astype(np.complex128), 2 * right)
    with memory() as m:
        matrix = Sparse(m, dense, format, 0, 2, fill, diagonal)  # with the other triangle, which does not count
        into = vector_words(m, np.zeros(n, dtype))
        m.call("cusparseSpSV_solve", NUMBERS[dtype], data.number(2), op, *matrix.words(), *vector_words(m, right[:, 0].copy()), *into)  # fmt: skip
        close(m.get(into[2], right[:, 0].copy()), expected[:, 0])
        target = dense_words(m, np.zeros((n, columns), dtype), True)
        m.call("cusparseSpSM_solve", NUMBERS[dtype], data.number(2), op, 1, *matrix.words(), *dense_words(m, right.T.copy(), False), *target)  # fmt: skip
        close(get_dense(m, target, right), expected)


@pytest.mark.parametrize("letter, dtype", [("S", np.float32), ("D", np.float64), ("Z", np.complex128)])
def test_incomplete_lu(letter: str, dtype: Any) -> None:
    """Where L U has an entry of A's it equals A; of a full matrix it is LU without pivots."""
    data = Data(dtype, 5)
    for dense in (data.sparse(9, 9) * data.number(0.2) + 3 * np.eye(9, dtype=dtype), data.dense(5, 5) + 6 * np.eye(5, dtype=dtype)):  # fmt: skip
        with memory() as m:
            matrix = Sparse(m, dense.astype(dtype), base=1)
            m.call(f"cusparse{letter}csrilu02", *matrix.words())
            factors = np.zeros_like(dense)
            factors[dense != 0] = m.get(matrix.at, matrix.values)
            lower = np.tril(factors, -1) + np.eye(len(dense))
            close((lower @ np.triu(factors))[dense != 0].astype(dtype), dense[dense != 0])
            call = m.call("cusparseXcsrilu02_zeroPivot", Answer(np.int32(0)), *matrix.words())
            assert answer(call, np.int32) == -1


@pytest.mark.parametrize("letter, dtype", [("S", np.float32), ("D", np.float64), ("Z", np.complex128)])
def test_incomplete_cholesky(letter: str, dtype: Any) -> None:
    """Where A has an entry L L^H equals it; of a full matrix it is Cholesky's factor."""
    data = Data(dtype, 6)
    for part in (data.sparse(9, 9) * data.number(0.2), data.dense(5, 5) * data.number(0.3)):
        dense = (part + part.conj().T + 4 * np.eye(len(part))).astype(dtype)
        with memory() as m:
            matrix = Sparse(m, dense, base=1)
            m.call(f"cusparse{letter}csric02", *matrix.words())
            found = np.zeros_like(dense)
            found[dense != 0] = m.get(matrix.at, matrix.values)
            np.testing.assert_array_equal(np.triu(found, 1), np.triu(dense, 1))
            lower = np.tril(found)
            close((lower @ lower.conj().T)[dense != 0], dense[dense != 0])
            if (dense != 0).all():
                close(lower, np.linalg.cholesky(dense))


def test_a_zero_pivot() -> None:
    with memory() as m:
        matrix = Sparse(m, np.array([[1.0, 2, 0], [1, 2, 1], [0, 1, 5]]), base=1)
        m.call("cusparseDcsrilu02", *matrix.words())
        assert answer(m.call("cusparseXcsrilu02_zeroPivot", Answer(np.int32(0)), *matrix.words()), np.int32) == 2


# ---- conversions ----


@FEW
@given(types, formats, sizes, sizes, bases, st.booleans(), seeds)
def test_dense_and_back(dtype: Any, format: int, rows: int, columns: int, base: int, by_row: bool, seed: int) -> None:
    dense = Data(dtype, seed).sparse(rows, columns)
    with memory() as m:
        given_ = Sparse(m, dense, format, base)
        target = dense_words(m, np.full((rows, columns), 9, dtype), by_row, 1)
        m.call("cusparseSparseToDense", *given_.words(), *target)
        close(get_dense(m, target, dense), dense)
        call = m.call("cusparseDenseToSparse_analysis", Answer(np.int64(0)), *given_.words(), *target)
        assert answer(call, np.int64) == given_.count
        lines = columns if format == CSC else rows
        first = m.put(np.zeros(given_.count if format == COO else lines + 1, np.int32))
        second, at = m.put(np.zeros(given_.count, np.int32)), m.put(np.zeros(given_.count, dtype))
        m.call("cusparseDenseToSparse_convert", *given_.words()[:13], first, second, at, *target)
        for found, expected in ((first, given_.first), (second, given_.second), (at, given_.at)):
            size = m.arena.find(expected).size  # type: ignore[union-attr]
            assert bytes(m.arena.bytes(found, size)) == bytes(m.arena.bytes(expected, size))
        letter = {np.float32: "S", np.float64: "D", np.complex64: "C", np.complex128: "Z"}[dtype]
        for direction in (0, 1):
            counts = m.put(np.zeros([rows, columns][direction], np.int32))
            call = m.call(f"cusparse{letter}nnz", Answer(np.int32(0)), direction, *target, counts)
            assert answer(call, np.int32) == given_.count
            np.testing.assert_array_equal(m.get(counts, np.zeros([rows, columns][direction], np.int32)), np.count_nonzero(dense, axis=1 - direction))  # fmt: skip


@FEW
@given(types, sizes, sizes, bases, seeds)
def test_rows_columns_and_sorts(dtype: Any, rows: int, columns: int, base: int, seed: int) -> None:
    data = Data(dtype, seed)
    dense = data.sparse(rows, columns)
    with memory() as m:
        csr, coo, csc = (Sparse(m, dense, format, base) for format in (CSR, COO, CSC))
        count = csr.count
        made = m.put(np.zeros(rows + 1, np.int32))
        m.call("cusparseXcoo2csr", coo.first, count, rows, made, base)
        same(m, made, csr.first, rows + 1)
        made = m.put(np.zeros(count, np.int32))
        m.call("cusparseXcsr2coo", csr.first, count, rows, made, base)
        same(m, made, coo.first, count)
        empty = Sparse(m, np.zeros_like(dense), CSC, base)
        empty.count, empty.second, empty.at = count, m.put(np.zeros(count, np.int32)), m.put(np.zeros(count, dtype))
        m.call("cusparseCsr2cscEx2", 1, *csr.words(), *empty.words())
        same(m, empty.first, csc.first, columns + 1)
        same(m, empty.second, csc.second, count)
        close(m.get(empty.at, csc.values), csc.values)
        # Entries in any order, and back.
        order = data.random.permutation(count).astype(np.int32)
        numbers = m.put(np.zeros(count, np.int32))
        m.call("cusparseCreateIdentityPermutation", count, numbers)
        shuffled = [m.put(m.get(at, np.zeros(count, np.int32))[order]) for at in (coo.first, coo.second)]
        words = (*coo.words()[:13], *shuffled, 0)
        m.call("cusparseXcoosortByRow", numbers, *words)
        same(m, shuffled[0], coo.first, count)
        same(m, shuffled[1], coo.second, count)
        np.testing.assert_array_equal(order[m.get(numbers, order)], np.arange(count))
        m.call("cusparseXcoosortByColumn", 0, *words)
        same(m, shuffled[0], csc.second, count)
        within = np.concatenate([data.random.permutation(np.arange(a, b)) for a, b in _rows(m, csr, rows)] or [[]])
        mixed = m.put(m.get(csr.second, np.zeros(count, np.int32))[within.astype(int)])
        m.call("cusparseXcsrsort", 0, *csr.words()[:14], mixed, 0)
        same(m, mixed, csr.second, count)


def _rows(m: Memory, csr: Sparse, rows: int) -> list[tuple[int, int]]:
    offsets = m.get(csr.first, np.zeros(rows + 1, np.int32)) - csr.base
    return [(int(a), int(b)) for a, b in pairwise(offsets)]


def same(m: Memory, found: int, expected: int, count: int) -> None:
    like = np.zeros(count, np.int32)
    np.testing.assert_array_equal(m.get(found, like), m.get(expected, like))


# ---- what leads out of memory ----


@pytest.mark.parametrize(
    "first, second, told",
    [
        ([0, 1, 2], [0, 3], "A's column indices: number 1 is 3, counted from 0, of 3"),
        ([0, 1, 2], [-1, 0], "A's column indices: number 0 is -1, counted from 0, of 3"),
        ([0, 3, 2], [0, 1], "A's offsets: number 1 is 3, counted from 0, of 3"),
        ([0, 2, 1], [0, 1], "A's offsets fall from 2 to 1 behind row 1"),
    ],
)
def test_indices_that_lead_out(first: list[int], second: list[int], told: str) -> None:
    with memory() as m:
        matrix = Sparse(m, np.array([[1.0, 0, 0], [0, 1, 0]]))
        matrix.first, matrix.second = m.put(np.array(first, np.int32)), m.put(np.array(second, np.int32))
        with pytest.raises(MemoryFault) as fault:
            m.call("cusparseSpMV", 1, np.float64(1), np.float64(0), 0, *matrix.words(), *vector_words(m, np.ones(3)), *vector_words(m, np.ones(2)))  # fmt: skip
        assert fault.value.message == told
        assert fault.value.kind == "out-of-bounds"
