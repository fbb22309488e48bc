"""What a lowering is for: the shape of the thread block it is specialised on, and what it counts and watches."""

from __future__ import annotations

from functools import cached_property

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class SimtOptions:
    """``block`` is the (x, y, z) of the thread blocks that will be launched; code made for one shape runs only on it.

    ``None`` makes code for any shape, which is slower: nothing is known about how thread numbers run along a warp.
    """

    block: tuple[int, int, int] | None = None
    counters: bool = True
    """Count executions, lanes, sectors and wavefronts."""
    trace: bool = False
    """Record the blocks that watched warps run, in order."""
    split: bool = False
    """Allow schedules that split a warp into groups of lanes that do not run in step."""
    checked: bool = False
    """Tell the runtime who passes a barrier by, and which lanes take part in each operation of a warp: for ``kw check``."""
    uniform: bool = True
    """Keep values that all lanes share as one number. Off: everything is a vector, which tests the analysis."""
    level: int | None = None
    """Optimisation level of the host code generator, 0 to 3; 0: as a variant of others, with which it shares code. ``None``:
    soon made, and level 1 for a kernel whose launches take long enough to be worth it; accesses are written in line then, too.
    Results and counters are the same."""

    inline: bool | None = None
    """Write the accesses that run evenly in line, not as calls: faster, and longer in the making. ``None``: as ``level``."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Kept, as each launch looks its code up by them."""
        return hash(
            (self.block, self.counters, self.trace, self.split, self.checked, self.uniform, self.level, self.inline)
        )

    @property
    def in_line(self) -> bool:
        """Whether accesses are written in line."""
        return self.inline if self.inline is not None else bool(self.level)

    @cached_property
    def geometry(self) -> Geometry:
        """How the threads of ``block`` lie along the lanes of a warp; as if nothing were known of it where ``uniform`` is off."""
        return Geometry.of(self.block, self.uniform)


@dataclass(frozen=True)
class Geometry:
    """How thread numbers lie along the lanes of a warp.

    A warp is ``lanes`` wide and made of ``segments`` equal runs of lanes; inside a segment ``threadIdx.x`` rises by one
    and ``y`` and ``z`` stay. ``segments`` is 0 when nothing is known.
    """

    lanes: int
    segments: int
    block: tuple[int, int, int] | None
    full: bool
    """Whether every warp of a block has all its lanes."""

    @property
    def per_segment(self) -> int:
        """Lanes of a segment; all lanes where nothing is known."""
        return self.lanes // self.segments if self.segments else self.lanes

    @property
    def parts(self) -> int:
        """How many numbers a value takes that is the same within each segment."""
        return max(self.segments, 1)

    @classmethod
    def of(cls, block: tuple[int, int, int] | None, uniform: bool = True) -> Geometry:
        """The geometry of a block of (x, y, z) threads; None: of any. ``uniform`` off: as if nothing were known of it."""
        if block is None:
            return cls(32, 0, None, False)
        x, y, z = block
        threads = x * y * z
        lanes = 16 if threads <= 16 else 32
        full = threads % lanes == 0
        if not uniform:
            return cls(lanes, 0, block, full)
        if y * z == 1 or x % 32 == 0 or (lanes == 16 and x == 16):
            return cls(lanes, 1, block, full)
        if x in (8, 16) and lanes % x == 0:
            return cls(lanes, lanes // x, block, full)
        return cls(lanes, 0, block, full)
