"""What the model is told of a launch: how often each block ran, what each access moved, and a log of a few thread blocks.

Executors fill this in; the model knows nothing of them. Counts are over the whole launch and exact. The log holds the
paths of all warps of the watched thread blocks and the lines of memory they asked for, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernelwright.target import WARP

Triple = tuple[int, int, int]
Kind = Literal["load", "store", "atomic"]
Space = Literal["global", "shared", "local"]

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
    that lanes of one request take at the same address (atomics).
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


REQUEST = np.dtype(
    [
        ("access", "<i4"), ("phase", "<i4"), ("turn", "<i4"), ("warp", "<i4"), ("first_line", "<i8"), ("lines", "<i4"),
        ("turns", "<i4"),
    ]
)  # fmt: skip
"""A logged request: the access (index), how many times its warp had stopped before, its number among the warp's requests,
the warp, its lines (``BlockTrace.lines[first_line:][:lines]``), and the turns it took at one address."""


@dataclass(frozen=True)
class BlockTrace:
    """A watched thread block. ``paths``: per warp the blocks it ran (indices into ``Observed.blocks``), in order.

    ``lines``: number of the 128-byte line << 4 | mask of its sectors.
    """

    number: int
    paths: tuple[npt.NDArray[np.int32], ...]
    requests: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, REQUEST))
    lines: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))


@dataclass(frozen=True)
class Observed:
    """One launch. ``buffers``: addresses (start, end) of global memory. ``warm``: the share of what the launch touches that
    the L2 cache holds already when it starts."""

    kernel: str
    geometry: Geometry
    blocks: tuple[BlockCount, ...]
    accesses: tuple[AccessCount, ...] = ()
    trace: tuple[BlockTrace, ...] = ()
    buffers: tuple[tuple[int, int], ...] = ()
    warm: float = 0.0

    @cached_property
    def warps(self) -> int:
        return self.geometry.blocks * self.geometry.warps

    @cached_property
    def keys(self) -> dict[tuple[str, str], int]:
        """How many pieces between barriers each IR block has, by function and label."""
        found: dict[tuple[str, str], int] = {}
        for each in self.blocks:
            key = (each.function, each.label)
            found[key] = max(found.get(key, 0), each.barriers + 1)
        return found


RUN = 8
"""Neighbours in the middle of the grid that are watched, because neighbours share lines."""
SPREAD = 8
"""Blocks spread over the grid that are watched, because its edges differ from its middle."""


def watched(blocks: int, run: int = RUN, spread: int = SPREAD) -> tuple[int, ...]:
    """The numbers of the thread blocks to log, of a grid of so many: all of a small grid, else some neighbours and some
    far apart. The same grid is watched the same way every time."""
    if blocks <= run + spread:
        return tuple(range(blocks))
    middle = (blocks - run) // 2
    apart = {i * (blocks - 1) // (spread - 1) for i in range(spread)}
    return tuple(sorted({*range(middle, middle + run), *apart}))
