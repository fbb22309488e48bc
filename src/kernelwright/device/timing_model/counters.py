"""What the model is told of a launch: how often each block ran, what each access moved, and a log of a few thread blocks.

Executors fill this in; the model knows nothing of them. Counts are over the whole launch and exact. The log holds the
paths of all warps of the watched thread blocks and the lines of memory they asked for, in order.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP

Kind = Literal["load", "store", "atomic"]
Space = Literal["global", "shared", "local", "constant"]
CountedIn = Literal["IR", "ptx", "machine code"]
"""Whose loads and stores the accesses count."""
Integers = npt.NDArray[np.int64]

SECTOR = 32
LINE = 128


@dataclass(frozen=True)
class Geometry:
    """``shared_bytes`` per block, static and dynamic together."""

    grid: Triple
    block: Triple
    shared_bytes: int = 0

    @property
    def blocks(self) -> int:
        """Thread blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Of one block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Of one block."""
        return -(-self.threads // WARP)


@dataclass(frozen=True)
class BlockCount:
    """A piece of an IR block between two places where warps can stop. ``barriers`` of the IR block lie before it, and
    ``starts`` says that it is the first piece behind that many."""

    function: str
    label: str
    barriers: int
    starts: bool
    executions: int
    lanes: int
    """Active lanes, summed over the executions."""


@dataclass(frozen=True)
class AccessCount:
    """A load, store or atomic. ``requests`` are executions by a warp, ``bytes`` what a lane asks for. ``space`` is where most
    requests went; ``shared_requests`` went to shared memory.

    ``sectors`` of 32 bytes (global and local memory), ``wavefronts`` of shared memory, ``serial``: turns beyond the first
    that lanes of one request take: atomics at the same address, constants at different ones.
    """

    function: str
    label: str
    kind: Kind
    space: Space
    bytes: int
    requests: int
    shared_requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    serial: int = 0
    file: str = ""
    line: int = 0
    """Of the source; 0: unknown."""
    apart: float = 1.0
    """Of requests in watched blocks, the share in which neighbouring lanes ask for different words; 1 where none was watched."""
    turns: tuple[float, float, float] = (1.0, 2.0, 4.0)
    """Of a request to global or local memory in watched blocks, the turns that the banks of L1 take to serve its lanes 32, 16 and 8 at a
    time, the mean over the requests; where none was watched, those of lanes that do not meet in a bank."""
    passes: int = 0
    """Turns that the banks of L1 take for the requests to global or local memory, of as many lanes at a time as it serves."""
    group: int = -1
    """Accesses of one block that code generation may have joined have the same number; -1: none."""


REQUEST = np.dtype(
    [("access", "<i4"), ("first_line", "<i4"), ("last_line", "<i4"), ("warp", "<i4"), ("at", "<i4")]
)  # fmt: skip
"""A logged request: the access (index), its lines: ``BlockTrace.lines[first_line:last_line]``, and the warp that made it when it ran
entry ``at`` of its path; -1 where that is not known."""


@dataclass(frozen=True, eq=False)
class BlockTrace:
    """A watched thread block. ``paths``: per warp the blocks it ran (indices into ``Observed.blocks``), in order.

    ``requests`` in the order they reach the caches, ``in_turns`` of it: executors run one warp after the other, a GPU all
    at once. ``lines``: number of the 128-byte line << 4 | mask of its sectors.
    """

    number: int
    paths: tuple[npt.NDArray[np.int32], ...]
    requests: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, REQUEST))
    lines: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))


def in_turns(warps: Integers, phases: Integers) -> Integers:
    """The order in which requests are taken when warps take turns: the first of each, then the second, and so on.

    ``warps`` and ``phases`` give each request's warp and how many barriers its block had passed; a warp's requests keep
    their order, and no request overtakes a barrier.
    """
    groups = phases << 16 | warps
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    at = np.arange(len(groups))
    fresh = np.ones(len(groups), bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    turn = at - np.maximum.accumulate(np.where(fresh, at, 0))
    return order[np.argsort(phases[order] << 40 | turn << 16 | warps[order], kind="stable")]


@dataclass(frozen=True, eq=False)
class Observed:
    """One launch. ``buffers``: addresses (start, end) of global memory. ``warm``: the share of what the launch touches that
    the L2 cache holds already when it starts.

    ``counted_in`` says what ``accesses`` are: the executor's, which are the IR's, or those of the code that runs on the GPU
    (``machine_accesses.py``). ``executed`` are then the executor's, which the log speaks of.
    """

    kernel: str
    geometry: Geometry
    blocks: tuple[BlockCount, ...]
    accesses: tuple[AccessCount, ...] = ()
    trace: tuple[BlockTrace, ...] = ()
    buffers: tuple[tuple[int, int], ...] = ()
    warm: float = 0.0
    counted_in: CountedIn = "IR"
    executed: tuple[AccessCount, ...] = ()
    ends_early: bool = False
    """Whether warps of watched blocks did more than was logged of them: each block is there as far as it goes."""

    @cached_property
    def warps(self) -> int:
        """Warps of the whole launch."""
        return self.geometry.blocks * self.geometry.warps

    @cached_property
    def touched(self) -> tuple[tuple[int, int], ...]:
        """The buffers that the watched blocks asked for a line of; every buffer where nothing was logged."""
        lines = [t.lines for t in self.trace if len(t.lines)]
        if not lines or not self.buffers:
            return tuple(sorted(self.buffers))
        bounds = np.array(sorted(self.buffers), np.int64)
        # A line that a buffer begins inside of belongs to it: its last byte decides.
        last = (np.concatenate(lines) >> np.uint64(4)).astype(np.int64) * LINE + LINE - 1
        owner = np.searchsorted(bounds[:, 0], last, side="right") - 1
        inside = owner >= 0
        hit = np.bincount(owner[inside], minlength=len(bounds)) > 0
        return tuple((start, end) for start, end in bounds[hit].tolist())

    @cached_property
    def touched_bytes(self) -> int:
        """Bytes of the buffers in ``touched``, taken whole."""
        return sum(end - start for start, end in self.touched)

    @cached_property
    def keys(self) -> dict[tuple[str, str], int]:
        """How many pieces between barriers each IR block has, by function and label."""
        found: dict[tuple[str, str], int] = {}
        for each in self.blocks:
            key = (each.function, each.label)
            found[key] = max(found.get(key, 0), each.barriers + 1)
        return found
