"""Counters, and which variables wake them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelwright.space.engine.constraints import Constraints, Counter, counter_variables
from kernelwright.space.engine.rows import Array, by_variable

MEMBER = np.dtype(
    [("guard", "i4", 2), ("guard_mask", "u2", 2), ("amount", "i4"), ("objects", "u4"), ("constant", "f8")], align=True
)
TERM = np.dtype(
    [
        ("first", "i4"), ("members", "i4"), ("sums", "i4"), ("guard", "i4"), ("guard_mask", "u2"), ("same_mask", "u2"),
        ("same", "i4"), ("coefficient", "f8"),
    ],
    align=True,
)  # fmt: skip
COUNTER = np.dtype([("limit", "f8"), ("first", "i4"), ("terms", "i4")], align=True)
COUNTED = np.dtype([("counters", "u8"), ("word", "i4"), ("mask", "u2"), ("unused", "u2")], align=True)


def counters(c: Constraints) -> dict[str, Array]:
    """As arrays by the names of the engine's structure."""
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
                read = [v for v, _ in m.guards] + ([] if m.amount is None else [m.amount])
                objects = int(np.bitwise_or.reduce(c.presence[read])) if read else 0
                members.append(([v for v, _ in guards], [k for _, k in guards], amount, objects, m.constant))
    bits: dict[tuple[int, int, int], int] = {}
    for number, k in enumerate(c.counters):
        for variable, mask in _wakes(k):
            key = variable, number // 64, mask
            bits[key] = bits.get(key, 0) | 1 << number % 64
    woken = sorted(bits)
    counted = np.array([(bits[key], *key[1:], 0) for key in woken], COUNTED)
    return {
        "counter": np.array(counters, COUNTER),
        "term": np.array(terms, TERM),
        "member": np.array(members, MEMBER),
        "same": np.concatenate([*same, []]).astype(np.int32),
        "counted_first": by_variable(np.array([v for v, _, _ in woken], np.int64), c.variables)[0],
        "counted": counted,
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
