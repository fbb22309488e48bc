"""Vectors and matrices of cuSPARSE's calls, as descriptors name them: read from device memory, their indices checked.

    matrix = SparseMatrix.read(call, "A", words)      sixteen words, as runtime/libraries/sparse/sparse.h sends them
    rows, columns, values = matrix.entries()          in the order in which they lie, counted from 0

An index that leads out of its vector or matrix would be a wild access on a GPU: it raises ``MemoryFault``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import BY_NUMBER, I32, I64, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, MemoryFault, Operand
from kernelwright.lazy_dataclasses import dataclass

CSC, COO = 2, 3
"""Of cusparseFormat_t; the other is CSR."""
TRANSPOSE, CONJUGATE_TRANSPOSE = 1, 2
"""cusparseOperation_t."""
_BY_COLUMN = 1
"""CUSPARSE_ORDER_COL."""
_INDEX_TYPES: dict[int, NumberType] = {2: I32, 3: I64}
"""cusparseIndexType_t."""

Words = Iterator[Any]
"""A call's arguments, of which each operand takes its own."""


@dataclass
class DenseVector:
    call: Call
    name: str
    size: int
    type: NumberType
    address: int

    @classmethod
    def read(cls, call: Call, name: str, words: Words) -> DenseVector:
        """Takes its three words from a call's arguments: size, type, address."""
        size, type, address = (next(words) for _ in range(3))
        return cls(call, name, size, BY_NUMBER[type], address)

    def operand(self, reads: bool = True, writes: bool = False) -> Operand:
        """Its elements in device memory, a vector of ``size`` without gaps, checked for what is done to them."""
        return self.call.vector(self.name, self.address, self.size, 1, self.type, reads, writes)


@dataclass
class SparseVector:
    call: Call
    name: str
    size: int
    count: int
    base: int
    index_type: NumberType
    type: NumberType
    indices_at: int
    values_at: int

    @classmethod
    def read(cls, call: Call, name: str, words: Words) -> SparseVector:
        """Takes its seven words from a call's arguments."""
        size, count, base, index_type, type, indices, values = (next(words) for _ in range(7))
        return cls(call, name, size, count, base, _INDEX_TYPES[index_type], BY_NUMBER[type], indices, values)

    def indices(self) -> Array:
        """The places of its entries, counted from 0: shape (count,). Raises ``MemoryFault`` for one outside ``size``."""
        found = self.call.vector(f"{self.name}'s indices", self.indices_at, self.count, 1, self.index_type).load()
        return within(f"{self.name}'s indices", found.astype(np.int64) - self.base, self.size)

    def values(self, reads: bool = True, writes: bool = False) -> Operand:
        """Its entries in device memory, in the order of ``indices``."""
        return self.call.vector(f"{self.name}'s values", self.values_at, self.count, 1, self.type, reads, writes)


@dataclass
class DenseMatrix:
    """Of a batch, one matrix behind the other; ``stride`` is 0 where all are the same one."""

    call: Call
    name: str
    rows: int
    columns: int
    ld: int
    type: NumberType
    order: int
    batch: int
    stride: int
    address: int

    @classmethod
    def read(cls, call: Call, name: str, words: Words) -> DenseMatrix:
        """Takes its eight words from a call's arguments."""
        rows, columns, ld, type, order, batch, stride, address = (next(words) for _ in range(8))
        return cls(call, name, rows, columns, ld, BY_NUMBER[type], order, batch, stride, address)

    def operand(self, reads: bool = True, writes: bool = False) -> Operand:
        """An array of batch x rows x columns."""
        shape = (self.rows, self.columns) if self.order == _BY_COLUMN else (self.columns, self.rows)
        found = self.call.matrices(
            self.name, self.address, *shape, self.ld, self.stride, self.batch, self.type, reads, writes
        )
        return found if self.order == _BY_COLUMN else Operand(self.type, found.stored.swapaxes(1, 2))


@dataclass
class SparseMatrix:
    """``first``: row indices of COO, else offsets; ``second``: column indices, of CSC row indices."""

    call: Call
    name: str
    format: int
    rows: int
    columns: int
    count: int
    base: int
    first_type: NumberType
    second_type: NumberType
    type: NumberType
    is_upper: bool
    has_unit_diagonal: bool
    batch: int
    first_stride: int
    values_stride: int
    first_at: int
    second_at: int
    values_at: int

    @classmethod
    def read(cls, call: Call, name: str, words: Words) -> SparseMatrix:
        """Takes its sixteen words from a call's arguments."""
        format, rows, columns, count, base, first, second, type, fill, diagonal, *places = (
            next(words) for _ in range(16)
        )
        types = _INDEX_TYPES[first], _INDEX_TYPES[second], BY_NUMBER[type]
        return cls(call, name, format, rows, columns, count, base, *types, fill == 1, diagonal == 1, *places)

    def entries(self, which: int = 0) -> tuple[Array, Array, Array]:
        """Rows, columns and values of a batch's matrix."""
        outer, inner = self.pattern(which)
        values = self.values(which).load()[self.span(which)]
        return (inner, outer, values) if self.format == CSC else (outer, inner, values)

    def span(self, which: int = 0) -> slice:
        """Which of the numbers in memory are entries: offsets may begin behind the first."""
        if self.format == COO:
            return slice(0, self.count)
        offsets = self.offsets(which)
        return slice(int(offsets[0]), int(offsets[-1]))

    def pattern(self, which: int = 0) -> tuple[Array, Array]:
        """Indices of the outer dimension, which CSR and COO count rows in, and of the inner one."""
        outer_size, inner_size = (self.columns, self.rows) if self.format == CSC else (self.rows, self.columns)
        inner = self._indices("column" if self.format != CSC else "row", self.second_at, self.second_type, which)
        if self.format == COO:
            outer = self._indices("row", self.first_at, self.first_type, which)
            return within(f"{self.name}'s row indices", outer, outer_size), self._inside(inner, inner_size)
        offsets = self.offsets(which)
        outer = np.repeat(np.arange(outer_size), np.diff(offsets))
        return outer, self._inside(inner[self.span(which)], inner_size)

    def values(self, which: int = 0, reads: bool = True, writes: bool = False) -> Operand:
        """The entries in device memory of matrix number ``which`` of a batch, ``count`` of them."""
        at = self.values_at + which * self.values_stride * self.type.size
        return self.call.vector(f"{self.name}'s values", at, self.count, 1, self.type, reads, writes)

    def _inside(self, inner: Array, size: int) -> Array:
        return within(f"{self.name}'s {'row' if self.format == CSC else 'column'} indices", inner, size)

    def _indices(self, what: str, address: int, type: NumberType, which: int) -> Array:
        at = address + which * self.values_stride * type.size
        found = self.call.vector(f"{self.name}'s {what} indices", at, self.count, 1, type).load()
        return found.astype(np.int64) - self.base

    def offsets(self, which: int = 0) -> Array:
        """Counted from 0; raises ``MemoryFault`` where they do not rise within the entries."""
        outer = self.columns if self.format == CSC else self.rows
        name = f"{self.name}'s offsets"
        if self.count == 0 and self.first_at == 0:
            return np.zeros(outer + 1, np.int64)
        at = self.first_at + which * self.first_stride * self.first_type.size
        found = self.call.vector(name, at, outer + 1, 1, self.first_type).load().astype(np.int64) - self.base
        within(name, found, self.count + 1)
        if (np.diff(found) < 0).any():
            row = int(np.flatnonzero(np.diff(found) < 0)[0])
            raise MemoryFault("out-of-bounds", f"{name} fall from {found[row]} to {found[row + 1]} behind row {row}")
        return found

    def write_pattern(self, outer: Array, inner: Array, values: Array | None) -> None:
        """The matrix becomes one with these entries, which are in order."""
        if self.format == COO:
            self._write("row indices", self.first_at, self.first_type, outer + self.base)
        else:
            sizes = np.bincount(outer, minlength=self.columns if self.format == CSC else self.rows)
            self._write("offsets", self.first_at, self.first_type, np.concatenate(([0], np.cumsum(sizes))) + self.base)
        self._write("indices", self.second_at, self.second_type, inner + self.base)
        if values is not None:
            self._write("values", self.values_at, self.type, values)

    def _write(self, what: str, address: int, type: NumberType, numbers: Array) -> None:
        self.call.vector(f"{self.name}'s {what}", address, len(numbers), 1, type, reads=False, writes=True).store(
            numbers
        )


def within(name: str, indices: Array, size: int) -> Array:
    """The indices, counted from 0. Raises ``MemoryFault`` for one outside ``size``."""
    wrong = np.flatnonzero((indices < 0) | (indices >= size))
    if len(wrong):
        at = int(wrong[0])
        raise MemoryFault("out-of-bounds", f"{name}: number {at} is {indices[at]}, counted from 0, of {size}")
    return indices


def operated(op: int, rows: Array, columns: Array, values: Array) -> tuple[Array, Array, Array]:
    """The entries of op(A)."""
    if op == CONJUGATE_TRANSPOSE:
        values = values.conj()
    return (columns, rows, values) if op in (TRANSPOSE, CONJUGATE_TRANSPOSE) else (rows, columns, values)


def operated_dense(op: int, matrices: Array) -> Array:
    """op(B) of each matrix of a batch."""
    if op == CONJUGATE_TRANSPOSE:
        return matrices.conj().swapaxes(1, 2)
    return matrices.swapaxes(1, 2) if op == TRANSPOSE else matrices


def wide(values: Array) -> Array:
    """In double precision."""
    return values.astype(np.complex128 if np.iscomplexobj(values) else np.float64, copy=False)


def sums(index: Array, terms: Array, size: int) -> Array:
    """For each of ``size`` numbers the sum of the terms that ``index`` sends there, in double precision."""
    if np.iscomplexobj(terms):
        made: Array = np.bincount(index, terms.real, size) + 1j * np.bincount(index, terms.imag, size)
        return made
    return np.bincount(index, wide(terms), size)
