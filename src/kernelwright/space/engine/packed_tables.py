"""Relations as the tables and rows that ``c/engine.c`` looks up."""

from __future__ import annotations

import numpy as np

from kernelwright.space.engine.constraints import Constraints, Relation
from kernelwright.space.engine.rows import Array, by_variable, waiting_first, waits

NARROW = 5
"""Domains of at most this many values are looked up in tables of 32 x 32 bytes."""

BINARY = np.dtype([("other", "i4"), ("table", "u4"), ("constraint", "i4")])
TERNARY = np.dtype([("second", "u2"), ("third", "u2"), ("row", "u4")])
WIDE = np.dtype([("relation", "i4"), ("constraint", "i4"), ("variable", "i4", 3)])


def pair_table(relation: Relation) -> Array:
    """``table[mask of the first]`` = mask of the second that goes with one of them."""
    rows = (relation.astype(np.int64) << np.arange(relation.shape[1])).sum(1)
    masks = np.arange(1 << relation.shape[0])
    table = np.zeros(len(masks), np.int64)
    for value, row in enumerate(rows):
        table |= np.where(masks >> value & 1, row, 0)
    return table.astype(np.uint16)


def triple_table(relation: Relation) -> Array:
    """``table[32 * mask of the first + mask of the second]`` = mask of the third."""
    rows = (relation.astype(np.int64) << np.arange(relation.shape[2])).sum(2)
    table = np.zeros((32, 32), np.int64)
    masks = np.arange(32)
    for (i, j), row in np.ndenumerate(rows):
        table |= np.where((masks >> i & 1)[:, None] & (masks >> j & 1)[None, :], row, 0)
    return table.astype(np.uint8).ravel()


class _Tables:
    """Tables of relations, each made once."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.made: list[Array] = []
        self.length = 0

    def number(self, table: Array) -> tuple[int, int]:
        """The table's number, and where it begins."""
        key = table.tobytes()
        if key not in self.numbers:
            self.numbers[key] = len(self.made)
            self.made.append(table)
            self.length += len(table)
        return self.numbers[key], sum(len(t) for t in self.made[: self.numbers[key]])


def binary(c: Constraints) -> dict[str, Array]:
    """Relations of two variables, as arrays by the names of the engine's structure."""
    tables = _Tables()
    used = sorted(set(c.binary[:, 2].tolist()))
    offsets = np.zeros((len(c.relations), 2), np.int64)
    for r in used:
        relation = c.relations[r]
        offsets[r] = tables.number(pair_table(relation))[1], tables.number(pair_table(relation.T))[1]
    x, y, r = c.binary.T if len(c.binary) else np.zeros((3, 0), np.int32)
    rows = np.zeros(2 * len(x), BINARY)
    rows["other"] = np.concatenate([y, x])
    rows["table"] = np.concatenate([offsets[r, 0], offsets[r, 1]])
    rows["constraint"] = np.tile(np.arange(len(x)), 2)
    scopes = c.binary[:, :2]
    first, order, waiting = waiting_first(scopes.T.ravel(), waits(c.presence[scopes]).T.ravel(), c.variables)
    return {
        "binary_first": first,
        "binary_waiting": waiting,
        "binary": rows[order],
        "binary_tables": np.concatenate([*tables.made, np.zeros(1)]).astype(np.uint16),
    }


def ternary(c: Constraints) -> dict[str, Array]:
    """Relations of three variables, as arrays by the names of the engine's structure."""
    base = c.bases["ternary"]
    used = np.unique(c.ternary[:, 3]) if len(c.ternary) else np.zeros(0, np.int32)
    narrow = np.array([max(r.shape) <= NARROW for r in c.relations] or [False])
    tables = _Tables()
    to_third = np.zeros((len(c.relations), 3), np.int64)  # with x and the next variable, what is left of the last
    to_second = np.zeros((len(c.relations), 3), np.int64)
    for r in used[narrow[used]]:
        for x, y, z in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            to_third[r, x] = tables.number(triple_table(c.relations[r].transpose(x, y, z)))[0]
            to_second[r, x] = tables.number(triple_table(c.relations[r].transpose(x, z, y)))[0]
    numbers = np.arange(base, base + len(c.ternary), dtype=np.int32)
    fast = narrow[c.ternary[:, 3]] if len(c.ternary) else np.zeros(0, bool)
    scopes, chosen = c.ternary[fast], numbers[fast]
    rows, ways = [], []
    for x, y, z in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        part = np.zeros(len(scopes), TERNARY)
        part["second"], part["third"] = scopes[:, y], scopes[:, z]
        rows.append(part)
        ways.append(to_third[scopes[:, 3], x] << 16 | to_second[scopes[:, 3], x])
    way = np.concatenate(ways)
    pairs, pair = np.unique(way, return_inverse=True)
    ternary = np.concatenate(rows)
    ternary["row"] = pair.ravel() << 10
    variables = scopes[:, :3]
    first, order, waiting = waiting_first(variables.T.ravel(), waits(c.presence[variables]).T.ravel(), c.variables)
    first, waiting, at = _in_fours(first, waiting)
    padded, constraint = np.zeros(first[-1], TERNARY), np.full(first[-1], -1, np.int32)
    padded["row"] = len(pairs) << 10  # which removes nothing
    padded[at], constraint[at] = ternary[order], np.tile(chosen, 3)[order]
    made = np.concatenate([*tables.made, np.zeros(1)]).astype(np.uint8)
    unsettled = [_unsettled(made, way >> 16, way & 0xFFFF) for way in pairs.tolist()]
    return {
        "ternary_first": first,
        "ternary_waiting": waiting,
        "pairs": np.stack([pairs >> 16, pairs & 0xFFFF], 1).astype(np.uint16),
        "ternary": padded,
        "ternary_constraint": constraint,
        "ternary_tables": made,
        "unsettled": np.concatenate([*(u.ravel() for u in unsettled), np.zeros(1 << 10)]).astype(np.uint32),
        **_wide(c, c.ternary[~fast], numbers[~fast]),
    }


def _in_fours(first: Array, waiting: Array) -> tuple[Array, Array, Array]:
    """Rows of variables padded to fours, those that wait by themselves: where each variable's begin, how many of them wait, and where each
    row is."""
    settled = np.diff(first) - waiting
    padded = np.stack([-(-waiting // 4) * 4, -(-settled // 4) * 4], 1)
    begins = np.cumsum(np.append(0, padded.ravel()))
    counts = np.stack([waiting, settled], 1).ravel()
    at = np.arange(counts.sum()) + np.repeat(begins[:-1] - np.append(0, np.cumsum(counts)[:-1]), counts)
    return begins[::2].astype(np.int32), padded[:, 0], at


def _unsettled(tables: Array, to_third: int, to_second: int) -> Array:
    """``[x, y]``: bit ``z`` says that a constraint removes something from the second variable ``y`` or the third ``z``."""
    third = tables[to_third << 10 : (to_third + 1) << 10].reshape(32, 32, 1)
    second = tables[to_second << 10 : (to_second + 1) << 10].reshape(32, 1, 32)
    y, z = np.arange(32)[None, :, None], np.arange(32)[None, None, :]
    removes = ((z & ~third) | (y & ~second)) != 0
    found: Array = (removes.astype(np.int64) << z).sum(2)
    return found


def _wide(c: Constraints, scopes: Array, numbers: Array) -> dict[str, Array]:
    used = sorted(set(scopes[:, 3].tolist()))
    relations = [c.relations[r] for r in used]
    rows = [(r.astype(np.int64) << np.arange(r.shape[2])).sum(2).ravel() for r in relations]
    free = [
        sum(1 << value for value in range(r.shape[axis]) if np.take(r, value, axis=axis).all())
        for r in relations
        for axis in range(3)
    ]
    wide = np.zeros(len(scopes), WIDE)
    wide["relation"] = np.searchsorted(used, scopes[:, 3]) if used else 0
    wide["constraint"], wide["variable"] = numbers, scopes[:, :3]
    first, order = by_variable(scopes[:, :3].T.ravel(), c.variables)
    return {
        "wide": wide,
        "wide_first": first,
        "wide_watch": np.tile(np.arange(len(scopes), dtype=np.int32), 3)[order],
        "relation_first": np.cumsum([0, *(len(r) for r in rows)]).astype(np.int32),
        "relation_sizes": np.array([r.shape for r in relations], np.int32).ravel(),
        "relation_rows": np.concatenate([*rows, []]).astype(np.uint16),
        "relation_free": np.array(free, np.uint16),
    }
