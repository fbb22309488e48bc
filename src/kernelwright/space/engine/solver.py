"""Domains of a space, restricted and propagated by the engine in C. A state is one array, copied where another is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelwright.space.engine.constraints import MOST_VALUES, Constraints, Integers, Masks
from kernelwright.space.engine.library import library
from kernelwright.space.engine.packing import pack

DECISION = -1
"""The cause of a restriction that no constraint made."""

_NUMBERS = (
    "variables", "groups", "counters", "wide_base", "clause_base", "counter_base", "presence_base", "unused",
)  # fmt: skip
_ARRAYS = (
    "initial", "presence", "group_of", "nodes", "exists", "exists_yes", "group_first", "group_variables",
    "binary", "binary_tables",
    "ternary", "ternary_constraint", "pairs", "ternary_tables", "unsettled",
    "wide_watch", "wide", "relation_first", "relation_sizes", "relation_rows", "relation_free",
    "short_watch", "shorts", "short_clause",
    "long_watch", "longs",
    "clause_first", "clauses", "counted",
    "counter", "term", "member", "same", "values", "value_row",
    "queue", "queued", "dirty", "children",
)  # fmt: skip


class _Space(ctypes.Structure):
    _fields_: ClassVar[Sequence[tuple[str, type]]] = (
        [(name, ctypes.c_int32) for name in _NUMBERS]
        + [(name, ctypes.c_void_p) for name in _ARRAYS]
        + [("log", ctypes.c_void_p), ("log_room", ctypes.c_int64), ("logged", ctypes.c_int64)]
        + [(name, ctypes.c_int32) for name in ("head", "waiting")]
        + [("present", ctypes.c_uint32), ("dead", ctypes.c_uint32), ("random", ctypes.c_uint64)]
        + [(name, ctypes.c_int64) for name in ("propagations", "events", "decisions", "failures")]
    )


class Change(NamedTuple):
    """A domain that shrank: ``constraint`` removed what ``before`` has and ``after`` has not; ``DECISION`` for a decision."""

    variable: int
    before: int
    after: int
    constraint: int


Changes = npt.NDArray[np.int64]
"""A ``Change`` per row, as its four numbers."""


@dataclass(frozen=True)
class Walk:
    """A random descent: its decisions (variable, mask of one value), where it ended, and log10 of the product of the numbers of
    children on its way."""

    decisions: tuple[tuple[int, int], ...]
    is_dead_end: bool
    log_size: float


@dataclass(frozen=True)
class Tree:
    """What ``enumerate_to`` counted, per depth: nodes, leaves and nodes without valid children above the last depth; and the
    decisions that lead to the nodes of the last depth, (n, depth, 2), as many as there was room for."""

    nodes: npt.NDArray[np.int64]
    leaves: npt.NDArray[np.int64]
    dead_ends: npt.NDArray[np.int64]
    prefixes: Integers


class Solver:
    """One space for one caller at a time: its working memory is not shared between threads.

    States are arrays of ``constraints.variables`` masks that the caller owns.
    """

    def __init__(self, constraints: Constraints, seed: int = 0) -> None:
        """Raises ``ToolError`` when the engine cannot be compiled, ``ValueError`` when a space is too large for it."""
        self.constraints = constraints
        self._library = library()
        packed = pack(constraints)
        self.bytes = packed.bytes
        count = constraints.variables
        arrays = {
            **packed.arrays,
            "queue": np.zeros(count + 1, np.int32),
            "queued": np.zeros(count + 1, np.uint8),
            "dirty": np.zeros(len(constraints.counters) // 64 + 1, np.uint64),
            "children": np.zeros((MOST_VALUES, count), np.uint16),
        }
        self._arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        self._space = _Space(**packed.numbers, **{name: a.ctypes.data for name, a in self._arrays.items()})
        assert self._library.space_struct_bytes() == ctypes.sizeof(_Space), "solver.py and engine.c disagree"
        self._address = ctypes.addressof(self._space)
        # A domain shrinks at most as often as it has values.
        self._log = np.empty(((MOST_VALUES + 1) * (count + 1), 4), np.int64)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Random walks after equal seeds are equal."""
        value = (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        self._space.random = value ^ value >> 27 or 1

    @property
    def decisions(self) -> int:
        """Restrictions propagated so far, those of batch calls included."""
        return int(self._space.decisions)

    # -- single steps

    def root(self) -> Masks | None:
        """The domains before any decision; None when no solution is left."""
        state = np.zeros(self.constraints.variables, np.uint16)
        return state if self._library.space_root(self._address, state.ctypes.data) else None

    def restrict(self, state: Masks, variable: int, mask: int) -> bool:
        """Keeps only the values of ``mask`` and propagates. False: no solution is left, and ``state`` means nothing any more."""
        return bool(self._library.space_restrict(self._address, state.ctypes.data, variable, mask))

    def replay(self, state: Masks, decisions: Iterable[tuple[int, int]]) -> int:
        """Restricts ``state`` by all ``decisions``; how many of them held. A decision on what surely does not exist does not."""
        rows = np.ascontiguousarray(list(decisions), np.int32).reshape(-1, 2)
        return int(self._library.space_replay(self._address, state.ctypes.data, rows.ctypes.data, len(rows)))

    def recorded(self, state: Masks | None, variable: int = -1, mask: int = 0) -> tuple[bool, Masks, Changes]:
        """As ``restrict``, or as ``root`` where ``state`` is None, with every change of a domain in order. ``state`` is copied."""
        log = self._log
        self._space.log, self._space.log_room, self._space.logged = log.ctypes.data, len(log), 0
        try:
            if state is None:
                after = np.zeros(self.constraints.variables, np.uint16)
                ok = bool(self._library.space_root(self._address, after.ctypes.data))
            else:
                after = state.copy()
                ok = self.restrict(after, variable, mask)
        finally:
            self._space.log = None
        return ok, after, log[: self._space.logged].copy()

    # -- batches

    def next_open(self, state: Masks, order: Integers) -> int | None:
        """The first variable of ``order`` with a choice left whose objects exist; None at a leaf."""
        at = self._library.space_open(self._address, state.ctypes.data, order.ctypes.data, len(order), 0)
        return None if at < 0 else int(order[at])

    def expand(self, state: Masks, variable: int) -> tuple[Masks, Masks]:
        """The children of a state for each value of a variable that leaves solutions possible: states (n, variables), and the
        masks that lead to them (n)."""
        children = np.empty((int(state[variable]).bit_count(), self.constraints.variables), np.uint16)
        masks = np.zeros(MOST_VALUES, np.uint16)
        found = self._library.space_expand(
            self._address, state.ctypes.data, variable, children.ctypes.data, masks.ctypes.data
        )
        return children[:found], masks[:found]

    def descend(self, state: Masks, order: Integers) -> Walk:
        """A random walk to a leaf or a dead end, which becomes ``state``; every child of a node has the same probability."""
        size = ctypes.c_double()
        path = np.zeros((self.constraints.variables + 1, 2), np.int32)
        depth = self._library.space_descend(
            self._address, state.ctypes.data, order.ctypes.data, len(order), ctypes.byref(size), path.ctypes.data
        )
        length = depth if depth >= 0 else -1 - depth
        return Walk(tuple((v, m) for v, m in path[:length].tolist()), depth < 0, size.value)

    def walks(self, start: Masks, order: Integers, count: int) -> tuple[Integers, npt.NDArray[np.float64]]:
        """``count`` random walks from ``start``: their depths, -1 - depth at dead ends, and log10 of their sizes."""
        depths, sizes = np.zeros(count, np.int32), np.zeros(count)
        scratch = np.empty_like(start)
        self._library.space_walks(
            self._address, start.ctypes.data, scratch.ctypes.data, order.ctypes.data, len(order), count,
            depths.ctypes.data, sizes.ctypes.data,
        )  # fmt: skip
        return depths, sizes

    def enumerate_to(self, start: Masks, order: Integers, depth: int, keep: int = 0) -> Tree:
        """Every node down to ``depth`` decisions below ``start``; the prefixes of at most ``keep`` nodes at that depth."""
        nodes, leaves, dead_ends = np.zeros((3, depth + 1), np.int64)
        states = np.empty((depth * MOST_VALUES + 1, self.constraints.variables), np.uint16)
        trail = np.zeros((depth + 1, 2), np.int32)
        prefixes = np.zeros((keep, depth, 2), np.int32)
        kept = self._library.space_enumerate(
            self._address, start.ctypes.data, order.ctypes.data, len(order), depth, states.ctypes.data,
            nodes.ctypes.data, leaves.ctypes.data, dead_ends.ctypes.data, trail.ctypes.data, prefixes.ctypes.data, keep,
        )  # fmt: skip
        return Tree(nodes, leaves, dead_ends, prefixes[:kept])
