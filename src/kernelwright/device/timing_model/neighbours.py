"""Neighbouring blocks of a grid: which are watched, and what a patch of them says of what all read and write.

    1-D grid      . . . . n n n n n n n n . . . .        8 in the middle
    2-D grid      . . . . n n n n n n n n . . . .        8 in a row, and those below them
                  . . . . n n n n n n n n . . . .
    and 8 spread over the grid, because its edges differ from its middle

Neighbours in a row share some of what they read (the halo of a stencil, a row of tiles of a matrix product), and so do those of
two rows. How much, half the patch and all of it say, in both directions: each further column costs as much as those of its
second half, each further row as much as those of its lower half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kernelwright.device.timing_model.counters import BlockTrace
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

RUN = 8
"""Neighbours in a row that are watched; where rows are shorter, so many in several rows."""
SPREAD = 8
"""Blocks spread over the grid that are watched."""

Floats = npt.NDArray[np.float64]


def watched(grid: Triple) -> tuple[int, ...]:
    """The numbers of the thread blocks to log: all of a small grid, else a patch of neighbours and some far apart. The same grid
    is watched the same way every time."""
    x, lines, blocks = grid[0], grid[1] * grid[2], grid[0] * grid[1] * grid[2]
    columns = min(x, RUN)
    rows = min(lines, max(2, RUN // columns))
    if blocks <= columns * rows + SPREAD:
        return tuple(range(blocks))
    left, top = (x - columns) // 2, (lines - rows) // 2
    patch = {(top + row) * x + left + column for row in range(rows) for column in range(columns)}
    return tuple(sorted(patch | {i * (blocks - 1) // (SPREAD - 1) for i in range(SPREAD)}))


@dataclass(frozen=True)
class Patch:
    """Watched blocks that are neighbours, row by row."""

    blocks: tuple[BlockTrace, ...]
    columns: int

    @property
    def rows(self) -> int:
        """Rows of ``columns`` blocks."""
        return len(self.blocks) // self.columns

    def part(self, columns: int, rows: int) -> tuple[BlockTrace, ...]:
        """Its first columns and rows."""
        return tuple(self.blocks[row * self.columns + column] for row in range(rows) for column in range(columns))


def patch_of(trace: Sequence[BlockTrace], grid: Triple) -> Patch:
    """The largest rectangle of watched blocks. Raises ``ValueError`` where none is watched."""
    by_number = {each.number: each for each in trace}
    if not by_number:
        raise ValueError("no thread block was watched")
    x = grid[0]
    best: list[int] = []
    columns = 1
    for corner in sorted(by_number):
        width, right = 0, x - corner % x
        while width < right and corner + width in by_number:
            width += 1
        for wide in range(width, 0, -1):
            numbers: list[int] = []
            row = [corner + column for column in range(wide)]
            while all(number in by_number for number in row):
                numbers += row
                row = [number + x for number in row]
            if len(numbers) > len(best):
                best, columns = numbers, wide
    return Patch(tuple(by_number[number] for number in best), columns)


def over_grid(
    patch: Patch,
    missed: Callable[[Sequence[BlockTrace]], Floats],
    grid: Triple,
    at_once: int,
    capacity: float,
) -> Floats:
    """What all blocks miss in L2, any figures that add up, from what parts of the patch do (``missed``).

    ``at_once``: blocks that run at the same time; ``capacity`` of L2, in the unit of the figures. What a row shares with the one
    above it is fetched again where a row of blocks asks for more than L2 holds, unless both run at once.
    """
    x, lines = grid[0], grid[1] * grid[2]
    whole = _wide(patch, patch.rows, missed, x)
    if lines <= patch.rows:
        return whole
    half = patch.rows // 2
    upper = _wide(patch, half, missed, x) if half else np.zeros_like(whole)
    each = np.maximum(0.0, (whole - upper) / (patch.rows - half))
    first = np.maximum(each, whole - (patch.rows - 1) * each)
    together = max(1.0, at_once / x)
    stays = min(1.0, capacity / max(1.0, float(first.sum())))
    again = max(0.0, lines / together - 1) * (1 - stays) * (first - each)
    total: Floats = whole + (lines - patch.rows) * each + again
    return total


def _wide(patch: Patch, rows: int, missed: Callable[[Sequence[BlockTrace]], Floats], x: int) -> Floats:
    """The first rows of a patch as wide as the grid."""
    whole = missed(patch.part(patch.columns, rows))
    if x <= patch.columns:
        return whole
    half = patch.columns // 2
    left = missed(patch.part(half, rows)) if half else np.zeros_like(whole)
    further: Floats = (x - patch.columns) * np.maximum(0.0, (whole - left) / (patch.columns - half))
    return further + whole
