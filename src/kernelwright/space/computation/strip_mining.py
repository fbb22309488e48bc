"""How loops are cut: candidate sizes of tiles, which of them go together, and at which sizes an access can be one vector.

Tiles divide the extent of their loop, or they are powers of two that together are no more than it. Then the rest, rounded up, has a
last iteration that is only partly there, and generated kernels ask of each iteration whether it is.

    1000 iterations, tiles of 25 and 4     →   a rest of 10
    1000 iterations, tiles of 32 and 4     →   a rest of 8, of whose 1024 iterations the last 24 are not there

Of an extent that is known only at launch, tiles divide what divides it at every launch, or they are powers of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from kernelwright.space.computation.arrays import Access, Loop
from kernelwright.space.computation.sizes import known_divisor

MOST_SIZES = 16
"""Candidate sizes of all tiles of a computation: the domain of a size is a word of 16 bits."""
VECTOR_WIDTHS = (2, 4)
"""Floats that one load or store can move at a time."""


def is_power_of_two(number: int) -> bool:
    """Whether a number is 1, 2, 4, ..."""
    return number > 0 and not number & (number - 1)


def divides(extent: int, sizes: Sequence[int]) -> bool:
    """Whether tiles of these sizes leave no iteration that is only partly there."""
    return known_divisor(extent) % prod(sizes) == 0


def can_cut(extent: int, sizes: Sequence[int]) -> bool:
    """Whether a loop may have tiles of these sizes."""
    return divides(extent, sizes) or (prod(sizes) <= extent and all(is_power_of_two(s) for s in sizes))


def rest_of(extent: int, sizes: Sequence[int]) -> int:
    """Iterations that the tiles leave, the last of which may be only partly there."""
    return -(-extent // prod(sizes))


def tile_sizes(loops: Iterable[Loop]) -> dict[Loop, list[tuple[int, ...]]]:
    """Per loop and tile the candidate sizes, outermost tile first; a tile without a candidate is left out.

    From 2 to the tile's limit and the extent: the powers of two and the divisors of the extent. Of more than 16, over all loops, the
    powers of two are kept, then what most tiles have, the smallest first. Outer tiles that nothing is left for are left out, too:
    ``Loop("m", 3, (32, 4))`` has one.
    """
    offered = {loop: [sizes for limit in loop.tiles if (sizes := _candidates(loop.extent, limit))] for loop in loops}
    number = Counter(size for tiles in offered.values() for sizes in tiles for size in sizes)
    kept = set(sorted(number, key=lambda size: (not is_power_of_two(size), -number[size], size))[:MOST_SIZES])
    found = {}
    for loop, tiles in offered.items():
        chosen = [tuple(s for s in sizes if s in kept) for sizes in tiles]
        while not any(can_cut(loop.extent, each) for each in product(*chosen)):
            chosen.pop(0)
        found[loop] = chosen
    return found


def _candidates(extent: int, limit: int) -> list[int]:
    return [s for s in range(2, min(limit, extent) + 1) if known_divisor(extent) % s == 0 or is_power_of_two(s)]


def may_be_partly_there(extent: int, tiles: Sequence[Sequence[int]]) -> bool:
    """Whether some sizes of these tiles leave an iteration that is only partly there."""
    return any(can_cut(extent, sizes) and not divides(extent, sizes) for sizes in product(*tiles))


def vector_widths(access: Access, loop: Loop, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of the innermost tile of ``loop`` at which neighbouring iterations touch one aligned vector, all of which is there.

    The loop's own stride must be 1, and its extent, the start and all other strides multiples of the width; the array itself begins
    at a multiple of 16 bytes, as every allocation does.
    """
    if access.stride(loop) != 1:
        return ()
    others = [stride for other, stride in access.strides if other != loop and other.may_repeat]
    steps = (loop.extent, access.offset, *others)
    return tuple(w for w in VECTOR_WIDTHS if w in sizes and all(known_divisor(s) % w == 0 for s in steps))
