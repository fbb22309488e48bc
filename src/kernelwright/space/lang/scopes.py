"""Relations by their scope: rules that speak of the same variables become one relation, the strongest there is for them.

Rows of variables come from many objects at once, so everything here is done on whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
import numpy.typing as npt

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Integers, Relation

Rows = npt.NDArray[np.int64]


@dataclass
class Relations:
    """Relations by number, each stored once."""

    all: list[Relation] = field(default_factory=list)
    numbers: dict[tuple[tuple[int, ...], bytes], int] = field(default_factory=dict)

    def number(self, relation: Relation) -> int:
        """The relation's place in ``all``, where it is added when no equal one is there."""
        kept = np.ascontiguousarray(relation)
        key = (kept.shape, kept.tobytes())
        if key not in self.numbers:
            self.numbers[key] = len(self.all)
            self.all.append(kept)
        return self.numbers[key]


@dataclass(frozen=True)
class Scoped:
    """Merged relations of one arity: ``scopes`` (n, arity) sorted, ``relation`` (n), and of each the rules it came from, as rows
    (scope number, relation of the rule, rule), sorted."""

    scopes: Integers
    relation: Integers
    rules: Integers

    def rules_of(self, number: int) -> list[tuple[int, int]]:
        """(relation, rule) of each rule that speaks of a scope."""
        # Of the column's own type: any other makes NumPy convert the whole column.
        first, last = np.searchsorted(self.rules[:, 0], np.array([number, number + 1], self.rules.dtype))
        return [(int(relation), int(rule)) for _, relation, rule in self.rules[first:last]]


class Scopes:
    """Relations of one arity while rules are added."""

    def __init__(self, arity: int, relations: Relations) -> None:
        self.arity, self.relations = arity, relations
        self.parts: list[Rows] = []

    def add(self, scopes: Rows, relation: Relation, rule: int) -> None:
        """``scopes``: (n, arity), each row ascending and without repetition."""
        number = self.relations.number(relation)
        labels = np.broadcast_to(np.array([number, rule]), (len(scopes), 2))
        self.parts.append(np.concatenate([scopes, labels], axis=1))

    def merged(self) -> Scoped:
        """All that was added: each scope once, with the relation that all of its rules allow."""
        rows = _sorted_rows(np.concatenate([*self.parts, np.zeros((0, self.arity + 2), np.int64)]))
        begins = _differ_from_last(rows[:, : self.arity])
        group = np.cumsum(begins) - 1
        starts = np.nonzero(begins)[0]
        scopes = rows[starts, : self.arity]
        related = np.stack([group, rows[:, self.arity]], axis=1)
        related = related[_differ_from_last(related)]
        firsts = np.searchsorted(related[:, 0], np.arange(len(starts) + 1))
        merged = related[firsts[:-1], 1].copy()
        for k in range(1, int(np.diff(firsts).max(initial=0))):
            chosen = np.nonzero(np.diff(firsts) > k)[0]
            merged[chosen] = self._joined(merged[chosen], related[firsts[chosen] + k, 1])
        rules = np.stack([group, rows[:, self.arity], rows[:, self.arity + 1]], axis=1)
        return Scoped(scopes.astype(np.int32), merged.astype(np.int32), rules.astype(np.int32))

    def _joined(self, one: Rows, other: Rows) -> Rows:
        """Per row the number of the relation that both allow."""
        count = len(self.relations.all)
        pairs, back = np.unique(one * count + other, return_inverse=True)
        both = [divmod(pair, count) for pair in pairs.tolist()]
        numbers = [self.relations.number(self.relations.all[a] & self.relations.all[b]) for a, b in both]
        found: Rows = np.array(numbers, np.int64)[back.ravel()]
        return found


def _sorted_rows(rows: Rows) -> Rows:
    """Rows of numbers from 0 in ascending order, without repetition. Packed into one number each where that has the bits: sorting those
    is many times faster than sorting by several columns."""
    widths = [int(most).bit_length() for most in rows.max(axis=0, initial=0)]
    if sum(widths) > 63:
        ordered = rows[np.lexsort(rows.T[::-1])]
        return ordered[_differ_from_last(ordered)]
    packed = np.zeros(len(rows), np.int64)
    for column, width in zip(rows.T, widths, strict=True):
        packed = packed << width | column
    packed.sort()  # np.unique would put them into a hash table first
    packed = packed[np.concatenate([[True], packed[1:] != packed[:-1]])] if len(packed) else packed
    found = np.empty((len(packed), rows.shape[1]), np.int64)
    for place in range(rows.shape[1] - 1, -1, -1):
        found[:, place] = packed & ((1 << widths[place]) - 1)
        packed = packed >> widths[place]
    return found


def _differ_from_last(rows: Rows) -> npt.NDArray[np.bool_]:
    """Per row whether it differs from the one before it."""
    found = np.ones(len(rows), bool)
    found[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return found


def by_scope(
    rows: Rows, flips: npt.NDArray[np.bool_]
) -> list[tuple[Rows, tuple[int, ...], tuple[bool, ...], tuple[int, ...]]]:
    """Rows of variables in the order of a relation's axes, sorted into groups that the relation is rearranged for in one way.

    Per group: the rows without repetition, ascending; the axes in their order; which axes are flipped; and for each axis which of the
    group's columns it is (the same one twice where a variable is repeated).
    """
    order = _small_argsort(rows)
    ascending = np.take_along_axis(rows, order, axis=1)
    repeated = np.zeros(rows.shape, bool)
    repeated[:, 1:] = ascending[:, 1:] == ascending[:, :-1]
    code = np.concatenate([order, flips, repeated], axis=1).astype(np.int64)
    first, which = _groups(code)
    found = []
    arity = rows.shape[1]
    for number, kind in enumerate(code[first].tolist()):
        axes, flipped, twice = kind[:arity], kind[arity : 2 * arity], kind[2 * arity :]
        columns = np.cumsum([not t for t in twice]) - 1
        column_of = [0] * arity
        for place, axis in enumerate(axes):
            column_of[axis] = int(columns[place])
        kept = ascending[which == number][:, [i for i, t in enumerate(twice) if not t]]
        found.append((kept, tuple(axes), tuple(map(bool, flipped)), tuple(column_of)))
    return found


def _groups(code: Rows) -> tuple[Rows, Rows]:
    """Rows of digits below 4 that are equal: the first of each group, and per row its group. Groups are few, rows many: nothing is
    sorted as long as a table of all groups there could be is small."""
    numbers = code @ 4 ** np.arange(code.shape[1])
    if code.shape[1] > 10:
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        return first, which.ravel()
    earliest = np.full(4 ** code.shape[1], len(code), np.int64)
    earliest[numbers[::-1]] = np.arange(len(code) - 1, -1, -1)
    there = np.flatnonzero(earliest < len(code))
    place = np.zeros(len(earliest), np.int64)
    place[there] = np.arange(len(there))
    return earliest[there], place[numbers]


def _small_argsort(rows: Rows) -> Rows:
    """``argsort`` of rows of at most three: comparing whole columns is many times faster than sorting each row."""
    if rows.shape[1] > 3 or rows.shape[1] < 2:
        return np.argsort(rows, axis=1, kind="stable")
    columns = list(rows.T)
    rank = [
        sum((columns[j] <= columns[i]) if j < i else (columns[j] < columns[i]) for j in range(len(columns)) if j != i)
        for i in range(len(columns))
    ]
    order = np.empty_like(rows)
    places = np.arange(len(rows))
    for i, each in enumerate(rank):
        order[places, each] = i
    return order


def rearranged(relation: Relation, flips: Sequence[Sequence[int] | None], column_of: Sequence[int]) -> Relation:
    """The relation with its axes at the columns of a scope. ``flips``: per axis how values are renumbered, None for not at all."""
    for axis, renumbered in enumerate(flips):
        if renumbered is not None:
            relation = np.take(relation, renumbered, axis=axis)
    columns = sorted(set(column_of))
    found: Relation = np.einsum(relation.astype(np.int8), list(column_of), columns) > 0
    return found
