"""A launch seen through some of its blocks: they run on a copy of the memory, and what they count is multiplied up.

    found = sample(virtual, execution, arena)     # None: the blocks are not alike, or one needs what others leave
    str(found), found.result                      # "64 of 16,384 blocks", counters as the whole grid would have them

The grid is cut into as many equal runs of blocks as are sampled, and one block of each is drawn, so that rows and edges have
their share. The blocks are drawn from a seed and run in groups. How much the groups differ says how far their mean is from that
of all (the standard error of the mean of cluster samples: Cochran, Sampling Techniques, 1977, chapter 9). Where that is too far
more blocks run, up to a quarter of the grid, and so they do while no sampled block has run a part of the code that may be long:
that is how a few blocks with all the work show, as in the first steps of a breadth-first search. Beyond that the whole grid is
what to run. What stays unseen is a rare block that goes round a loop far more often than those that were drawn.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.timing_model.launch_observation import watch_of
from kernelwright.device.timing_model.neighbours import watched
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.lazy_dataclasses import dataclass

LEAST = 64
"""Blocks that are sampled at first."""
GROUPS = 8
SHARE = 4
"""Of a grid at most one block in so many runs."""
LEAST_GRID = LEAST * SHARE
"""Blocks of a grid that can be sampled."""
ERROR = 0.005
"""The standard error of a counter, relative to its mean, that is good enough."""
SLIGHT = 0.1
"""A counter of memory that comes to less than this share of the instructions matters less: its error counts against that share."""
LONG = 12
"""Instructions of a block that is no mere way out."""
PATIENCE = 20_000_000
"""Rounds of loops that a group may make, about a second's worth: a block may wait for one that does not run."""
COUNTED = ("sectors", "waves", "serial", "in_shared", "in_local", "l1_hits", "l2_hits", "looked_up")
"""What the runtime adds up for each access."""

Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """``result``: of the watched blocks the log, of the sampled ones the counters, multiplied up to all blocks."""

    result: LaunchResult
    ran: int
    blocks: int

    def __str__(self) -> str:
        return f"{self.ran:,} of {self.blocks:,} blocks"


def sample(
    virtual: VirtualGpu,
    execution: Execution,
    arena: Arena,
    seed: int = 1,
    *,
    compiled: CompiledKernel | None = None,
    whole: LaunchResult | None = None,
) -> Sample | None:
    """The launch, from a sample; memory stays as it is. None for a small grid, for blocks that are not alike, for one that
    faults (it may wait for a block that does not run), and where memory cannot be copied.

    ``compiled``: the code that runs, which follows warps, where it is not the usual one. ``whole``: what the same code did in all
    blocks, where that is known, so that what no block runs is not missed. Raises as ``VirtualGpu.run``.
    """
    launch = execution.launch
    grid = launch.grid
    blocks = grid[0] * grid[1] * grid[2]
    if blocks < LEAST_GRID:
        return None
    execution = replace(execution, budget=min(execution.budget, PATIENCE))
    compiled = compiled or virtual.compile(execution.loaded, launch.kernel, launch.block, followed=True)
    with arena.aside() as has_copy:
        if not has_copy:
            return None
        log = virtual.run(execution, arena, compiled=compiled, watch=watch_of(grid), blocks=watched(grid))
        if log.fault is not None:
            return None
        for size in _sizes(blocks):
            drawn = draw(blocks, size, seed)
            groups = []
            for number in range(GROUPS):
                done = virtual.run(execution, arena, compiled=compiled, blocks=drawn[number::GROUPS])
                if done.fault is not None:
                    return None
                groups.append(done.result)
            if standard_error(groups) <= ERROR and not leaves_out(groups, whole):
                return Sample(multiplied(log.result, groups, blocks, size), size, blocks)
    return None


def _sizes(blocks: int) -> Iterator[int]:
    size = LEAST
    while size * SHARE <= blocks:
        yield size
        size *= 4


def draw(blocks: int, size: int, seed: int) -> list[int]:
    """One block of each of ``size`` runs that are as long as each other, or one longer; in rising order."""
    dice = random.Random(seed)
    cuts = [number * blocks // size for number in range(size + 1)]
    return [dice.randrange(low, high) for low, high in pairwise(cuts)]


def standard_error(groups: Sequence[LaunchResult]) -> float:
    """Of the mean of groups: the largest, relative to the mean, of what an estimate is made of."""
    rows = np.array([_figures(each) for each in groups])
    mean = rows.mean(axis=0)
    least = np.full(len(mean), SLIGHT * mean[1])
    least[:2] = 0
    off = rows.std(axis=0, ddof=1) / math.sqrt(len(groups))
    against = np.maximum(mean, least)
    return float(np.max(np.divide(off, against, out=np.zeros_like(off), where=against > 0)))


def leaves_out(groups: Sequence[LaunchResult], whole: LaunchResult | None = None) -> bool:
    """Whether a block of the IR that asks for memory, or is long, ran nowhere: the other thread blocks may run it, unless it is
    known that in the ``whole`` grid none does."""
    kernel = groups[0].kernel
    asks = {access.block for access in kernel.accesses}
    ran = np.sum([each.executions for each in groups], axis=0)
    return any(
        not ran[number]
        and (whole is None or whole.executions[number])
        and (number in asks or block.end - block.start >= LONG)
        for number, block in enumerate(kernel.blocks)
    )


def _figures(result: LaunchResult) -> Figures:
    """Instructions of the IR that warps ran, blocks of it, lanes, and what memory was asked for."""
    sizes = np.array([max(1, block.end - block.start) for block in result.kernel.blocks], np.int64)
    counts = (result.executions @ sizes, result.executions.sum(), result.lanes.sum() / 32)
    return np.array([*counts, result.sectors.sum(), result.wavefronts.sum(), result.serial.sum()], np.float64)


def multiplied(log: LaunchResult, groups: Sequence[LaunchResult], blocks: int, ran: int) -> LaunchResult:
    """What a launch of so many ``blocks`` would count. ``log``: what the watched blocks did; ``groups``: what ``ran`` others counted."""

    def up(counted: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return (2 * counted * blocks + ran) // (2 * ran)

    counts = up(np.sum([each.counts for each in groups], axis=0))
    sites = log.sites.copy()
    for name in COUNTED:
        total = np.sum([each.sites[name].astype(np.int64) for each in groups], axis=0)
        sites[name] = up(total).astype(sites.dtype[name])
    return replace(log, raw_counts=counts.tobytes(), raw_sites=sites.tobytes(), blocks_done=blocks)
