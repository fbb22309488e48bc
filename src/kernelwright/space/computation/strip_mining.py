"""How loops are cut: candidate sizes of tiles, and at which sizes an access can be one vector."""

from __future__ import annotations

from itertools import product
from math import prod

from kernelwright.space.computation.arrays import Access, Loop

MOST_SIZES = 16
"""Candidate sizes of one tile: the domain of a size is a word of 16 bits."""
VECTOR_WIDTHS = (2, 4)
"""Floats that one load or store can move at a time."""


def tile_sizes(loop: Loop) -> list[tuple[int, ...]]:
    """Per tile its candidate sizes, outermost tile first; a tile without a candidate is left out.

    The divisors of the extent from 2 to the tile's limit; of more than 16 the smallest. The whole loop is left to a tile only
    where one tile may hold it: ``Loop("m", 4, (32, 4))`` has tiles of 2 and 4. Outer tiles for which the extent has no divisor left
    are left out, too: ``Loop("m", 3, (32, 4))`` has one.
    """
    found = []
    for limit in loop.tiles:
        sizes = tuple(s for s in range(2, min(limit, loop.extent) + 1) if loop.extent % s == 0)[:MOST_SIZES]
        if sizes:
            found.append(sizes)
    while not any(loop.extent % prod(chosen) == 0 for chosen in product(*found)):
        found.pop(0)
    return found


def vector_widths(access: Access, loop: Loop, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of the innermost tile of ``loop`` at which neighbouring iterations touch one aligned vector.

    The loop's own stride must be 1, and the start and all other strides multiples of the width; the array itself begins
    at a multiple of 16 bytes, as every allocation does.
    """
    if access.stride(loop) != 1:
        return ()
    others = [stride for other, stride in access.strides if other != loop and other.extent > 1]
    return tuple(w for w in VECTOR_WIDTHS if w in sizes and all(s % w == 0 for s in (*others, access.offset)))
