"""Clauses by the literal whose loss wakes them, and within that by what many of them share."""

from __future__ import annotations

import numpy as np

from kernelwright.space.engine.constraints import Constraints
from kernelwright.space.engine.rows import Array, by_variable, starts_of_runs, waits

MOST_SHORT = 4
"""Literals of a clause that is kept with each of its literals."""
MOST_GATES = 4
LEAST_SHARED = 6
"""Rows that make sharing a literal worth a group of their own."""

LITERAL = np.dtype([("variable", "u2"), ("mask", "u2")])
WATCH = np.dtype(
    [
        ("first", "i4"), ("waiting", "i4"), ("last", "i4"), ("others", "i4"), ("gate", LITERAL), ("shared", LITERAL),
        ("mask", "u2"), ("width", "u2"), ("next_mask", "u2"), ("next_gate", "u2"),
    ]
)  # fmt: skip


def clauses(c: Constraints) -> dict[str, Array]:
    """As arrays by the names of the engine's structure."""
    literals = np.zeros(len(c.literals), LITERAL)
    literals["variable"], literals["mask"] = c.literals.T if len(c.literals) else (0, 0)
    lengths = np.diff(c.clause_first)
    clause = np.repeat(np.arange(len(lengths)), lengths)
    is_short = (lengths <= MOST_SHORT)[clause]
    at = np.nonzero(is_short)[0]
    others = _others(c, literals, clause[at], at)
    names, back = _different(others, c.variables)
    waiting = _row_waits(c, literals["variable"][at], others["variable"], at - c.clause_first[clause[at]])
    order, first, watch, rest = _watches(c, literals[at], waiting, back, names, _gates(c, names))
    long_at = np.nonzero(~is_short)[0]
    long_order, long_first, long_watch, _ = _watches(
        c,
        literals[long_at],
        np.zeros(len(long_at), bool),
        np.zeros((len(long_at), 0), np.int64),
        names,
        np.zeros((0, MOST_GATES), np.int64),
    )
    return {
        "shorts_first": first,
        "short_watch": watch,
        "shorts": rest,
        "short_clause": clause[at][order].astype(np.int32),
        "longs_first": long_first,
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


def _gates(c: Constraints, names: Array) -> Array:
    """The conditions on other variables that imply a literal through a binary constraint, of each of ``names``: as variable << 16 |
    mask, padded with -1. Where one holds, the clause needs no visit: its literal holds once the binary constraint is propagated."""
    implied: dict[tuple[int, int], int] = {}
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
    return table


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


def _row_waits(c: Constraints, own: Array, others: Array, place: Array) -> Array:
    """As ``waits``, for each literal of clauses by itself: its variable, those of the others, and its place among them."""
    earlier = np.where(np.arange(others.shape[1]) < place[:, None], c.presence[others], 0)
    some = waits(np.concatenate([c.presence[own][:, None], c.presence[others]], axis=1)).any(1)
    found: Array = ((c.presence[own] & ~np.bitwise_or.reduce(earlier, axis=1)) != 0) & some
    return found


def _watches(
    c: Constraints, literals: Array, waiting: Array, others: Array, names: Array, gates: Array
) -> tuple[Array, Array, Array, Array]:
    """Rows of literals grouped by literal, within that by the gate that most rows of the group have, and within that by a literal that
    many of these share: their order, where each variable's groups begin, the groups, and the literals that are neither, row by row.
    ``others``: per row its other literals, as numbers of ``names``; ``gates``: of each."""
    key = literals["variable"].astype(np.int64) << 16 | literals["mask"]
    _, group = _different(literals, c.variables)
    gate = _commonest_gate(group, others, gates)
    place = _commonest_place(group, gate, others)
    rows = np.arange(len(key))
    shared = np.where(place < 0, -1, others[rows, place]) if others.size else place
    order = np.lexsort((~waiting, shared, gate, key))
    sorted_rows = np.stack([key, gate, shared], 1)[order]
    starts = starts_of_runs(sorted_rows)
    watch = np.zeros(len(starts), WATCH)
    watch["first"], watch["last"] = starts, np.append(starts[1:], len(order))
    watch["waiting"] = starts + (np.add.reduceat(waiting[order], starts, dtype=np.int64) if len(starts) else 0)
    watch["mask"] = sorted_rows[starts, 0] & 0xFFFF
    for kind, codes in (("gate", sorted_rows[starts, 1]), ("shared", np.append(names, -1)[sorted_rows[starts, 2]])):
        watch[kind]["variable"] = np.where(codes < 0, 0, codes >> 16)
        watch[kind]["mask"] = np.where(codes < 0, 0, codes & 0xFFFF)
    watch["next_mask"] = _until_another(sorted_rows[starts, :1])
    watch["next_gate"] = _until_another(sorted_rows[starts, :2])
    is_rest = np.arange(others.shape[1]) != place[order][:, None]
    codes = names[others[order][is_rest]] if others.size else np.zeros(0, np.int64)
    rest = np.zeros(len(codes), LITERAL)
    rest["variable"], rest["mask"] = codes >> 16, codes & 0xFFFF
    watch["width"] = is_rest.sum(1)[starts]
    watch["others"] = np.cumsum(np.append(0, is_rest.sum(1)))[starts]
    first, sorting = by_variable(sorted_rows[starts, 0] >> 16, c.variables)
    return order, first, watch[sorting], rest


def _until_another(rows: Array) -> Array:
    """Per row how far it is to the next that is different; less where that is very far."""
    starts = starts_of_runs(rows)
    length = np.diff(np.append(starts, len(rows)))
    return np.minimum(np.repeat(starts + length, length) - np.arange(len(rows)), 0xFFFF)


def _commonest_place(group: Array, gate: Array, others: Array) -> Array:
    """Per row the place of the literal that most rows with its group and gate have; -1 where few do."""
    if not others.size:
        return np.full(len(group), -1, np.int64)
    _, part = np.unique(group << 33 | gate + 1, return_inverse=True)
    codes = (part[:, None] * (int(others.max()) + 1) + others).ravel()
    order = np.argsort(codes)
    starts = starts_of_runs(codes[order][:, None])
    lengths = np.diff(np.append(starts, len(codes)))
    often: Array = np.empty(len(codes), np.int64)
    often[order] = np.repeat(lengths, lengths)
    often = often.reshape(others.shape)
    return np.where(often.max(1) < LEAST_SHARED, -1, often.argmax(1))


def _commonest_gate(group: Array, others: Array, gates: Array) -> Array:
    """Per row the gate that most rows of its group have, as one number; -1 where the row has it not."""
    if not others.size:
        return np.full(len(group), -1, np.int64)
    # How often a group has a literal, then how often it has the gates of these: few of both are different.
    gated = gates.max(axis=1) >= 0
    has = gated[others]
    both = np.broadcast_to(group[:, None], others.shape)[has] * len(gates) + others[has]
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
    for k in range(others.shape[1]):
        found |= (gates[others[:, k]] == wanted[:, None]).any(axis=1)
    return np.where(found & (wanted >= 0), wanted, -1)
