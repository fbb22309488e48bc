"""Constraints as the arrays that ``c/engine.c`` reads: projections of relations looked up by masks, and who wakes whom.

A ternary constraint among domains of at most five values becomes tables: ``table[mask of x, mask of y]`` is the mask of ``z`` that some
pair still allows. Wider ones keep their relation, row by row. Clauses are grouped by the literal whose loss wakes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.space.engine.constraints import (
    MOST_GROUPS,
    MOST_VALUES,
    Constraints,
    Counter,
    Relation,
    counter_variables,
)

NARROW = 5
"""Domains of at most this many values are looked up in tables of 32 x 32 bytes."""
MOST_SHORT = 4
"""Literals of a clause that is kept with each of its literals."""
MOST_GATES = 4
"""Gates that are looked at per literal."""

BINARY = np.dtype([("other", "i4"), ("table", "u4"), ("constraint", "i4")])
TERNARY = np.dtype([("second", "u2"), ("third", "u2"), ("to_third", "u2"), ("to_second", "u2")])
WIDE = np.dtype([("relation", "i4"), ("constraint", "i4"), ("variable", "i4", 3)])
WATCH = np.dtype([("first", "i4"), ("last", "i4"), ("gate", "i4"), ("mask", "u2"), ("gate_mask", "u2")])
LITERAL = np.dtype([("variable", "u2"), ("mask", "u2")])
SHORT = np.dtype([("other", LITERAL, 3), ("clause", "i4")])
MEMBER = np.dtype(
    [("guard", "i4", 2), ("guard_mask", "u2", 2), ("amount", "i4"), ("unused", "i4"), ("constant", "f8")], align=True
)
TERM = np.dtype(
    [
        ("first", "i4"), ("members", "i4"), ("sums", "i4"), ("guard", "i4"), ("guard_mask", "u2"), ("same_mask", "u2"),
        ("same", "i4"), ("coefficient", "f8"),
    ],
    align=True,
)  # fmt: skip
COUNTER = np.dtype([("limit", "f8"), ("first", "i4"), ("terms", "i4")], align=True)

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Packed:
    """Arrays by the names of the fields of ``Space`` in engine.c, and its numbers."""

    arrays: dict[str, Array]
    numbers: dict[str, int]

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for a in self.arrays.values())


def pack(c: Constraints) -> Packed:
    """Raises ``ValueError`` when something does not fit: 65,535 variables, 16 values, 32 optional objects."""
    if c.variables > 65535 or len(c.exists) > MOST_GROUPS or (len(c.sizes) and int(c.sizes.max()) > MOST_VALUES):
        raise ValueError("a space has at most 65,535 variables of 16 values and 32 optional objects")
    arrays: dict[str, Array] = {
        "initial": c.initial.astype(np.uint16),
        "presence": c.presence.astype(np.uint32),
        "values": c.values.astype(np.float64).ravel(),
        "value_row": c.value_row.astype(np.int32),
        **_presence(c), **_binary(c), **_ternary(c), **_clauses(c), **_counters(c),
    }  # fmt: skip
    bases = c.bases
    numbers = {
        "variables": c.variables, "groups": len(c.exists), "counters": len(c.counters),
        "clause_base": bases["clause"], "counter_base": bases["counter"], "presence_base": bases["presence"],
    }  # fmt: skip
    return Packed(arrays, numbers)


def _by_variable(variables: Array, count: int) -> tuple[Array, Array]:
    """For rows that belong to variables: where each variable's rows begin once sorted, and the sorting."""
    order = np.argsort(variables, kind="stable")
    first = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(variables, minlength=count), out=first[1:])
    return first, order


def _presence(c: Constraints) -> dict[str, Array]:
    group_of = np.full(c.variables, -1, np.int8)
    members = [np.nonzero(c.presence >> np.uint32(g) & 1)[0] for g in range(len(c.exists))]
    for g, (variable, _) in enumerate(c.exists):
        group_of[variable] = g
    return {
        "group_of": group_of,
        "exists": np.array([v for v, _ in c.exists], np.int32),
        "exists_yes": np.array([m for _, m in c.exists], np.uint16),
        "group_first": np.cumsum([0, *(len(m) for m in members)]).astype(np.int32),
        "group_variables": np.concatenate([*members, []]).astype(np.int32),
    }


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


def _binary(c: Constraints) -> dict[str, Array]:
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
    first, order = _by_variable(np.concatenate([x, y]), c.variables)
    return {
        "binary_first": first,
        "binary": rows[order],
        "binary_tables": np.concatenate([*tables.made, np.zeros(1)]).astype(np.uint16),
    }


def _ternary(c: Constraints) -> dict[str, Array]:
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
    rows = np.zeros(3 * len(scopes), TERNARY)
    for k, (x, y, z) in enumerate(((0, 1, 2), (1, 0, 2), (2, 0, 1))):
        part = rows[k * len(scopes) : (k + 1) * len(scopes)]
        part["second"], part["third"] = scopes[:, y], scopes[:, z]
        part["to_third"], part["to_second"] = to_third[scopes[:, 3], x], to_second[scopes[:, 3], x]
    first, order = _by_variable(np.concatenate([scopes[:, 0], scopes[:, 1], scopes[:, 2]]), c.variables)
    return {
        "ternary_first": first,
        "ternary": rows[order],
        "ternary_constraint": np.tile(chosen, 3)[order],
        "ternary_tables": np.concatenate([*tables.made, np.zeros(1)]).astype(np.uint8),
        **_wide(c, c.ternary[~fast], numbers[~fast]),
    }


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
    first, order = _by_variable(scopes[:, :3].T.ravel(), c.variables)
    return {
        "wide": wide,
        "wide_first": first,
        "wide_watch": np.tile(np.arange(len(scopes), dtype=np.int32), 3)[order],
        "relation_first": np.cumsum([0, *(len(r) for r in rows)]).astype(np.int32),
        "relation_sizes": np.array([r.shape for r in relations], np.int32).ravel(),
        "relation_rows": np.concatenate([*rows, []]).astype(np.uint16),
        "relation_free": np.array(free, np.uint16),
    }


def _clauses(c: Constraints) -> dict[str, Array]:
    literals = np.zeros(len(c.literals), LITERAL)
    literals["variable"], literals["mask"] = c.literals.T if len(c.literals) else (0, 0)
    lengths = np.diff(c.clause_first)
    clause = np.repeat(np.arange(len(lengths)), lengths)
    is_short = (lengths <= MOST_SHORT)[clause]
    at = np.nonzero(is_short)[0]
    others = _others(c, literals, clause[at], at)
    order, first, watch = _watches(c, literals[at], *_gates(c, others))
    shorts = np.zeros(len(at), SHORT)
    shorts["other"], shorts["clause"] = others, clause[at]
    long_at = np.nonzero(~is_short)[0]
    long_order, long_first, long_watch = _watches(
        c, literals[long_at], np.zeros((len(long_at), 0), np.int64), np.zeros((1, MOST_GATES), np.int64)
    )
    return {
        "short_first": first,
        "short_watch": watch,
        "shorts": shorts[order],
        "long_first": long_first,
        "long_watch": long_watch,
        "longs": clause[long_at][long_order].astype(np.int32),
        "clause_first": c.clause_first.astype(np.int32),
        "clauses": literals,
    }


def _others(c: Constraints, literals: Array, clause: Array, at: Array) -> Array:
    """Per literal of a short clause the others, (n, 3); a missing one is the literal's own variable with no value."""
    found = np.zeros((len(at), MOST_SHORT - 1), LITERAL)
    found["variable"] = literals["variable"][at][:, None]
    place = at - c.clause_first[clause]
    lengths = np.diff(c.clause_first)[clause]
    for k in range(MOST_SHORT - 1):
        other = k + (place <= k)
        there = np.nonzero(other < lengths)[0]
        found[there, k] = literals[c.clause_first[clause[there]] + other[there]]
    return found


def _gates(c: Constraints, others: Array) -> tuple[Array, Array]:
    """The conditions on other variables that imply a literal through a binary constraint: per row of literals which each is, and per
    different literal its conditions, as variable << 16 | mask, padded with -1. Where one holds, the clause needs no visit: its
    literal holds once the binary constraint is propagated."""
    implied: dict[tuple[int, int], int] = {}
    names, back = _different(others, c.variables)
    wanted: dict[int, list[tuple[int, int]]] = {}
    for number, code in enumerate(names.tolist()):
        if code & 0xFFFF:
            wanted.setdefault(code >> 16, []).append((number, code & 0xFFFF))
    found: list[list[tuple[int, int]]] = [[] for _ in names]
    for x, y, r in c.binary.tolist():
        for source, target, relation in ((x, y, c.relations[r]), (y, x, c.relations[r].T)):
            if c.presence[source] & ~c.presence[target]:
                continue  # it may not restrict the target yet
            for number, mask in wanted.get(target, ()):
                key = (r if source == x else -1 - r, mask)
                if key not in implied:
                    rows = (relation.astype(np.int64) << np.arange(relation.shape[1])).sum(1)
                    implied[key] = sum(1 << i for i, row in enumerate(rows.tolist()) if not row & ~mask)
                if implied[key] and len(found[number]) < MOST_GATES:
                    found[number].append((source, implied[key]))
    table = np.full((len(names), MOST_GATES), -1, np.int64)
    for number, gates in enumerate(found):
        for k, (source, mask) in enumerate(gates):
            table[number, k] = source << 16 | mask
    return back, table


def _different(literals: Array, variables: int) -> tuple[Array, Array]:
    """The different literals as variable << 16 | mask, ascending, and per literal which of them it is. There are many literals and few
    different ones, so a table of all there could be is faster than sorting."""
    masks = np.zeros(1 << 16, bool)
    masks[literals["mask"]] = True
    kinds = np.flatnonzero(masks)
    codes = literals["variable"].astype(np.int64) * len(kinds) + (np.cumsum(masks) - 1)[literals["mask"]]
    there = np.zeros(variables * len(kinds), bool)
    there[codes] = True
    found = np.flatnonzero(there)
    names = found // max(1, len(kinds)) << 16 | kinds[found % max(1, len(kinds))]
    return names, (np.cumsum(there) - 1)[codes]


def _watches(c: Constraints, literals: Array, names: Array, gates: Array) -> tuple[Array, Array, Array]:
    """Rows of literals grouped by literal and, within that, by the gate that most rows of the group have: their order, where each
    variable's groups begin, and the groups. ``names``: per row its other literals, ``gates``: of each."""
    key = literals["variable"].astype(np.int64) << 16 | literals["mask"]
    _, group = _different(literals, c.variables)
    gate = _commonest_gate(group, names, gates)
    order = np.lexsort((gate, key))
    sorted_key, sorted_gate = key[order], gate[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (sorted_key[1:] != sorted_key[:-1]) | (sorted_gate[1:] != sorted_gate[:-1])
    starts = np.nonzero(begins)[0]
    watch = np.zeros(len(starts), WATCH)
    watch["first"], watch["last"] = starts, np.append(starts[1:], len(order))
    watch["mask"] = sorted_key[starts] & 0xFFFF
    watch["gate"] = np.where(sorted_gate[starts] < 0, -1, sorted_gate[starts] >> 16)
    watch["gate_mask"] = np.where(sorted_gate[starts] < 0, 0, sorted_gate[starts] & 0xFFFF)
    first, by_variable = _by_variable(sorted_key[starts] >> 16, c.variables)
    return order, first, watch[by_variable]


def _commonest_gate(group: Array, names: Array, gates: Array) -> Array:
    """Per row the gate that most rows of its group have, as one number; -1 where the row has it not."""
    if not names.size:
        return np.full(len(group), -1, np.int64)
    # How often a group has a literal, then how often it has the gates of these: few of both are different.
    gated = (gates >= 0).any(axis=1)
    has = gated[names]
    both = np.broadcast_to(group[:, None], names.shape)[has] * len(gates) + names[has]
    both, often = np.unique(both, return_counts=True)
    codes = gates[both % len(gates)]
    rows, columns = np.nonzero(codes >= 0)
    pairs, which = np.unique((both // len(gates))[rows] << 32 | codes[rows, columns], return_inverse=True)
    counts = np.bincount(which.ravel(), often[rows], len(pairs))
    best = np.full(int(group.max()) + 1, -1, np.int64)
    ascending = pairs[np.argsort(counts, kind="stable")]
    best[ascending >> 32] = ascending & 0xFFFFFFFF
    wanted = best[group]
    found: Array = np.zeros(len(group), bool)
    for k in range(names.shape[1]):
        found |= (gates[names[:, k]] == wanted[:, None]).any(axis=1)
    return np.where(found & (wanted >= 0), wanted, -1)


def _counters(c: Constraints) -> dict[str, Array]:
    members: list[tuple[Any, ...]] = []
    terms: list[tuple[Any, ...]] = []
    counters: list[tuple[Any, ...]] = []
    same: list[Array] = []
    room = 0
    for counter in c.counters:
        counters.append((counter.limit, len(terms), len(counter.terms)))
        for t in counter.terms:
            variable, mask = t.guard or (-1, 0)
            at = -1 if t.same is None else room
            if t.same is not None:
                same.append(np.asarray(t.same, np.int32).ravel())
                room += t.same.size
            terms.append((len(members), len(t.members), int(t.sums), variable, mask, t.same_mask, at, t.coefficient))
            for m in t.members:
                guards = [*m.guards, (-1, 0), (-1, 0)][:2]
                amount = -1 if m.amount is None else m.amount
                members.append(([v for v, _ in guards], [k for _, k in guards], amount, 0, m.constant))
    wakes = [(variable, number, mask) for number, k in enumerate(c.counters) for variable, mask in _wakes(k)]
    woken = np.array(wakes, np.int64).reshape(-1, 3)
    first, order = _by_variable(woken[:, 0], c.variables)
    return {
        "counter": np.array(counters, COUNTER),
        "term": np.array(terms, TERM),
        "member": np.array(members, MEMBER),
        "same": np.concatenate([*same, []]).astype(np.int32),
        "counted_first": first,
        "counted": woken[order, 1].astype(np.int32),
        "counted_mask": woken[order, 2].astype(np.uint16),
    }


def _wakes(counter: Counter) -> Sequence[tuple[int, int]]:
    """Variables whose change may matter to a counter; with a mask: not while one of these values is left.

    That two members may be the same matters only once they surely are not; that they surely are lowers nothing.
    """
    read = dict.fromkeys(counter_variables(counter), 0)
    for term in counter.terms:
        own = {v for m in term.members for v, _ in m.guards} | {m.amount for m in term.members}
        if term.same is not None:
            for v in {int(v) for v in term.same.ravel() if v >= 0} - own:
                read[v] = term.same_mask
    return list(read.items())
