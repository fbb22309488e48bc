"""Cases that candidates are judged by on some blocks of their grid, so that a candidate costs the same however large the data are.

    data set 1, 3,969 blocks      64 of them run: what they count is multiplied up, and what they leave in memory is compared with
                                  what the same blocks of the original leave there
    data set 2, 36 blocks         runs whole, under every schedule that is demanded

A case is sampled where the original makes one launch in it, of a large grid and with much work; where smaller cases that run whole
go through all of its code, in as many dimensions of blocks; and where its blocks are alike (``sampled_launch.py``), so that
the estimate from them is near that from all.

A candidate's time is its estimate from the blocks, times what the original takes over the original's estimate from the same blocks (the
ratio estimator: Cochran, Sampling Techniques, 1977, chapter 6). So the original's time is that of the whole launch, and what the
sample misses in both alike does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from kernelwright.cuda.names import readable
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.virtual_gpu.sampled_launch import LEAST_GRID, draw
from kernelwright.evaluate.judging.case_runner import Executor
from kernelwright.evaluate.judging.variant_launches import Done, VariantExecutor
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Output
from kernelwright.lazy_dataclasses import dataclass

LEAST_WORK = 200_000
"""Blocks of instructions that all warps of a case run: below, all its blocks run in some milliseconds."""
CLOSE = 0.02
"""How far the original's estimate from a sample may lie from that of the whole launch, as a share of it."""
SEED = 1
"""Of the blocks that are drawn: the same for the original and for every candidate."""
SHOWN = 4
"""Launches that a remark names."""


@dataclass(frozen=True)
class Shape:
    """What the one launch of a case does in the original. ``work``: blocks of instructions, of all warps; ``covers``: the
    blocks of instructions that ran, and in which dimensions there is more than one block of threads."""

    kind: Hashable
    work: int
    blocks: int
    covers: frozenset[Hashable]


@dataclass(frozen=True, eq=False)
class SampledCase:
    """How a case is sampled: the launch of ``kernel``, a grid of so many ``blocks``."""

    kernel: str
    blocks: int
    drawn: tuple[int, ...]
    """The blocks that run, besides those that the timing model follows."""
    expected: Output
    """What they leave in memory."""
    scale: float
    """The original's time over its estimate from the sample."""


def shape_of(done: Sequence[Done]) -> Shape | None:
    """Of the launches of a case; None where there is not just one."""
    if len(done) != 1:
        return None
    launch, executions = done[0].launched.launch, done[0].launched.result.executions
    x, y, z = launch.grid
    dimensions = (name for name, n in zip("xyz", launch.grid, strict=True) if n > 1)
    covers = frozenset((*executions.nonzero()[0].tolist(), *dimensions))
    return Shape((launch.kernel, launch.block), int(executions.sum()), x * y * z, covers)


def replaceable(shapes: Sequence[Shape | None]) -> list[int]:
    """The numbers of the cases that do much, and do nothing that smaller ones not among them do not; the smallest first."""
    covered: dict[Hashable, set[Hashable]] = {}
    found = []
    for work, index in sorted((shape.work, index) for index, shape in enumerate(shapes) if shape is not None):
        shape = shapes[index]
        assert shape is not None
        shown = covered.setdefault(shape.kind, set())
        if work >= LEAST_WORK and shape.blocks >= LEAST_GRID and shape.covers <= shown:
            found.append(index)
        else:
            shown |= shape.covers
    return found


def sampled_case(
    original: VariantExecutor,
    run: Callable[[Executor], Output | Rejected],
    whole: Done,
    time_us: Callable[[Done], float],
) -> SampledCase | None:
    """How the case is sampled whose launch was ``whole``; None where its blocks are not alike.

    ``original``: the executor that made it; ``run`` runs the case by another one; ``time_us`` estimates a launch.
    """
    drawn: tuple[int, ...] = ()
    some = whole

    def choosing(execution: Execution, arena: Arena) -> Done:
        nonlocal drawn, some
        found = original.sample(execution, arena, whole)
        drawn = tuple(draw(found.blocks, found.ran, SEED)) if found is not None else ()
        some = replace(original, drawn=drawn)(execution, arena)
        return some

    output = run(choosing)
    if not drawn or isinstance(output, Rejected):
        return None
    x, y, z = whole.launched.grid
    scale = time_us(whole) / time_us(some)
    return SampledCase(whole.launched.kernel, x * y * z, drawn, output, scale) if abs(scale - 1) <= CLOSE else None


def remark(sampled: Sequence[SampledCase]) -> list[str]:
    """What a person should know of it."""
    if not sampled:
        return []
    named = [f"{readable(each.kernel)}, {len(each.drawn):,} of {each.blocks:,} blocks" for each in sampled]
    more = f"; and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return [
        f"large launches are timed and compared on a sample of their blocks while searching ({'; '.join(named[:SHOWN])}{more}); "
        "a proof runs them whole. --whole runs every block of every candidate"
    ]
