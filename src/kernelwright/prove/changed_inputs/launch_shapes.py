"""Other shapes of a launch: grids and blocks that shrink, grow, turn, and grow by a dimension; sizes of dynamic shared memory.

    grid 4x1x1 -> 3x1x1, 5x1x1, 4x2x1, 2x2x1, 4x1x2     block 64x1x1 -> 32x1x1, 32x2x1, 16x4x1, 63x1x1, 128x1x1

An image of 256 x 1 that is launched with one row of blocks shows nothing of a second row: so a pair of numbers trades a factor,
256 x 1 -> 128 x 2, together with a grid that has the second row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product

from kernelwright.cuda.names import base_name
from kernelwright.guards import WARP
from kernelwright.launch import Triple
from kernelwright.prove.changed_inputs.case_survey import Change, Geometry, NumberSeen, Survey

PAIRS = 6
"""Ordered pairs of numbers that trade a factor."""
MOST_BLOCKS = 65535
FEW_BLOCKS = 4
"""Of a launch that is cut, at least."""


def shape_changes(kernel: str, geometry: Geometry, threads: int) -> Iterator[tuple[Change, ...]]:
    """Sorts of changes of a launch's shape: of the grid, of the block, of both, of dynamic shared memory."""
    grids = [(f"grid of {base_name(kernel)}", g, geometry.block, geometry.grid, g) for g in _grids(geometry.grid)]
    blocks, ragged = (
        [(f"block of {base_name(kernel)}", geometry.grid, b, geometry.block, b) for b in shapes]
        for shapes in (_blocks(geometry.block, threads), _ragged_blocks(geometry.block, threads))
    )
    for sort in (grids, blocks, ragged):
        yield tuple(
            Change(f"{what}: {_text(before)} -> {_text(after)}", geometries=((kernel_and, replace(geometry, grid=g, block=b)),))
            for what, g, b, before, after in sort
            for kernel_and in [(kernel, geometry)]
        )  # fmt: skip
    if geometry.shared_bytes:
        sizes = (geometry.shared_bytes + 256, geometry.shared_bytes // 2, 2 * geometry.shared_bytes)
        yield tuple(
            Change(
                f"dynamic shared memory of {base_name(kernel)}: {geometry.shared_bytes} -> {size} bytes",
                geometries=(((kernel, geometry), replace(geometry, shared_bytes=size)),),
            )
            for size in sizes
        )


def first_blocks(survey: Survey, share: float) -> Change | None:
    """The same launches with a share of their blocks, those of the lowest numbers; None where they have too few."""
    made = {
        (kernel, geometry): replace(geometry, grid=grid)
        for kernel, geometry in survey.geometries
        if (grid := _part_of(geometry.grid, share)) != geometry.grid
    }
    if not made:
        return None
    words = ", ".join(f"{base_name(k)} on {_text(g.grid)} blocks of {_text(b.grid)}" for (k, b), g in made.items())
    return Change(words, geometries=tuple(made.items()))


def _part_of(grid: Triple, share: float) -> Triple:
    """The longest side halved until no more blocks are left than the share, and a few at least."""
    sides, wanted = list(grid), max(FEW_BLOCKS, share * math.prod(grid))
    while math.prod(sides) > wanted:
        longest = sides.index(max(sides))
        sides[longest] = (sides[longest] + 1) // 2
        if max(sides) == 1:
            break
    x, y, z = sides
    return x, y, z


def traded_factors(kernel: str, geometry: Geometry, numbers: Sequence[NumberSeen]) -> Iterator[Change]:
    """Pairs of numbers of one launch, one halved and the other doubled, or exchanged, on grids that fit either."""
    whole = [n for n in numbers if n.kernel == kernel and n.kind == "i" and len(n.raw) >= 4 and 0 < n.value < 1 << 30]
    # The largest first: what is halved is the extent that the data have.
    ordered = sorted(permutations(whole, 2), key=lambda pair: -pair[0].value)
    pairs = [pair for pair in ordered if not pair[0].value % 2][:PAIRS]
    x, y, z = geometry.grid
    grids = dict.fromkeys([(x, 2 * y, z), (x, y, 2 * z), (-(-x // 2), 2 * y, z), (x, y, z)])
    for grid, (one, other) in product(grids, pairs):
        traded = ((one, one.raw_of(int(one.value) // 2)), (other, other.raw_of(2 * int(other.value))))
        numbers_after = tuple((number, raw) for number, raw in traded if raw is not None)
        after = replace(geometry, grid=grid)
        shape = f", grid {_text(geometry.grid)} -> {_text(grid)}" if grid != geometry.grid else ""
        words = ", ".join(
            f"{n.words}: {n.value} -> {int.from_bytes(raw, 'little', signed=True)}" for n, raw in numbers_after
        )
        moved = (((kernel, geometry), after),) if grid != geometry.grid else ()
        yield Change(words + shape, numbers=numbers_after, geometries=moved)


def _grids(grid: Triple) -> list[Triple]:
    x, y, z = grid
    others = [
        (x - 1, y, z), (x, y + 1, z), (x + 1, y, z), (x, y - 1, z), (y, x, z), (-(-x // 2), 2 * y, z), (x, y, z + 1),
        (1, 1, 1), (x, y, z - 1), (2 * x, y, z),
    ]  # fmt: skip
    return [g for g in dict.fromkeys(others) if min(g) > 0 and g != grid and max(g[1:]) <= MOST_BLOCKS]


def _blocks(block: Triple, threads: int) -> list[Triple]:
    x, y, z = block
    others = [
        (x // 2, y, z), (x // 2, 2 * y, z), (x // 2, y, 2 * z), (2 * x, y, z), (y, x, z), (x, y, z // 2),
        (x, 2 * y, z), (x, y // 2, z), (x, y, 2 * z), (32, 1, 1),
    ]  # fmt: skip
    return _fitting(others, block, threads)


def _ragged_blocks(block: Triple, threads: int) -> list[Triple]:
    """Blocks whose warps are not what they were: two rows in one, so that lanes are no longer numbered by x alone; one not full."""
    x, y, z = block
    half = WARP // 2
    return _fitting([(half, y * x // half, z) if x % WARP == 0 else (x - 1, y, z), (x - 1, y, z)], block, threads)


def _fitting(shapes: Sequence[Triple], block: Triple, threads: int) -> list[Triple]:
    others = (b for b in dict.fromkeys(shapes) if min(b) > 0 and b != block)
    return [b for b in others if b[0] * b[1] * b[2] <= threads and b[2] <= 64]


def _text(extent: Triple) -> str:
    return "x".join(map(str, extent))
