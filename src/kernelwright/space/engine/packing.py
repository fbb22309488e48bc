"""Constraints as the arrays that ``c/engine.c`` reads: projections of relations looked up by masks, and who wakes whom.

A ternary constraint among domains of at most five values becomes tables: ``table[mask of x, mask of y]`` is the mask of ``z`` that some
pair still allows. Wider ones keep their relation, row by row. Clauses are grouped by the literal whose loss wakes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelwright.space.engine.constraints import MOST_GROUPS, MOST_VALUES, Constraints
from kernelwright.space.engine.packed_clauses import clauses
from kernelwright.space.engine.packed_counters import counters
from kernelwright.space.engine.packed_tables import binary, ternary
from kernelwright.space.engine.rows import Array

NODE = np.dtype(
    [
        (n, "i4")
        for n in ("binary", "ternary", "wide", "shorts", "longs", "counted", "waiting_binary", "waiting_ternary")
    ]
)


@dataclass(frozen=True)
class Packed:
    """Arrays by the names of the fields of ``Space`` in engine.c, and its numbers."""

    arrays: dict[str, Array]
    numbers: dict[str, int]

    @property
    def bytes(self) -> int:
        """Bytes of all arrays together."""
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
        **_presence(c), **binary(c), **ternary(c), **clauses(c), **counters(c),
    }  # fmt: skip
    arrays["nodes"] = _nodes(c, arrays)
    bases = c.bases
    numbers = {
        "variables": c.variables, "groups": len(c.exists), "counters": len(c.counters),
        "clause_base": bases["clause"], "counter_base": bases["counter"], "presence_base": bases["presence"],
    }  # fmt: skip
    return Packed(arrays, numbers)


def _nodes(c: Constraints, arrays: dict[str, Array]) -> Array:
    """Where each variable's constraints begin, taken out of ``arrays``; the last one says where all end."""
    nodes = np.zeros(c.variables + 1, NODE)
    for kind in ("binary", "ternary", "wide", "shorts", "longs", "counted"):
        nodes[kind] = arrays.pop(f"{kind}_first")
    for kind in ("binary", "ternary"):
        nodes[f"waiting_{kind}"] = nodes[kind] + np.append(arrays.pop(f"{kind}_waiting"), 0)
    return nodes


def _presence(c: Constraints) -> dict[str, Array]:
    members = [np.nonzero(c.presence >> np.uint32(g) & 1)[0] for g in range(len(c.exists))]
    group_of = np.full(c.variables, -1, np.int8)
    for g, (variable, _) in enumerate(c.exists):
        group_of[variable] = g
    return {
        "group_of": group_of,
        "exists": np.array([v for v, _ in c.exists], np.int32),
        "exists_yes": np.array([m for _, m in c.exists], np.uint16),
        "group_first": np.cumsum([0, *(len(m) for m in members)]).astype(np.int32),
        "group_variables": np.concatenate([*members, []]).astype(np.int32),
    }
