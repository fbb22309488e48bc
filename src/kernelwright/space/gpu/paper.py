"""The space as the paper has it (paper 004, section 4): without reductions across threads and iterations that are only partly there.

Empty for loops with tiles that no size divides.
"""

from collections.abc import Iterator

from kernelwright.space.computation.strip_mining import divides
from kernelwright.space.gpu import communication, memory, reductions, structure, threads  # noqa: F401  their rules
from kernelwright.space.gpu.kinds import is_parallel
from kernelwright.space.gpu.sets import GPU, Cut, Dim, dim_kind, size
from kernelwright.space.lang.choices import related
from kernelwright.space.lang.conditions import Condition

PAPER = GPU.extended("paper")


@PAPER.rule
def reductions_are_sequential(d: Dim) -> Condition:
    """A dim that a reduction runs over is executed in sequence, by one thread."""
    return is_parallel(d) | dim_kind(d).is_in("LOOP", "UNROLL")


@PAPER.clause
def tiles_divide_their_loop(c: Cut) -> Iterator[Condition]:
    """The sizes of the tiles of a loop divide its extent."""
    extent = c.loop.extent
    if c.tiles:
        yield related(lambda *sizes: divides(extent, sizes), *(size(t) for t in c.tiles))
