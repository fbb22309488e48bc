"""A launch of the first blocks of a grid, as one of all of it: its blocks do the same."""

from __future__ import annotations

from dataclasses import replace

from kernelwright.device.timing_model.counters import Geometry, Observed
from kernelwright.launch import Triple


def multiplied(seen: Observed, grid: Triple) -> Observed:
    """A launch of the first blocks, in all three directions, as one of the whole grid."""
    whole = Geometry(grid, seen.geometry.block, seen.geometry.shared_bytes)
    had = seen.geometry.blocks
    cut = seen.geometry.grid

    def in_whole(number: int) -> int:
        column, row = number % cut[0], number // cut[0]
        return (row // cut[1] * grid[1] + row % cut[1]) * grid[0] + column

    def up(count: int) -> int:
        return (2 * count * whole.blocks + had) // (2 * had)

    return replace(
        seen,
        geometry=whole,
        trace=tuple(replace(each, number=in_whole(each.number)) for each in seen.trace),
        blocks=tuple(replace(b, executions=up(b.executions), lanes=up(b.lanes)) for b in seen.blocks),
        accesses=tuple(
            replace(
                a,
                requests=up(a.requests),
                shared_requests=up(a.shared_requests),
                sectors=up(a.sectors),
                wavefronts=up(a.wavefronts),
                serial=up(a.serial),
            )
            for a in seen.accesses
        ),
    )
