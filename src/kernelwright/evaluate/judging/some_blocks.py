"""Long launches under other schedules: some of their blocks run, which stand for all.

    svm, train: 45 blocks        8 of them, in pairs of neighbours, in another order and with lanes out of step; what they leave in
                                 memory is compared with what the same blocks of the original leave there

A race lies in the code of a block, or between blocks that are near each other; a launch that takes a fifth of a second shows it no
better in all of its blocks than in a few, and a candidate would cost three such launches. The first schedule, from which the time
is taken, runs all blocks, and a proof runs all under every schedule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.sampled_launch import draw
from kernelwright.evaluate.judging.case_runner import Executor
from kernelwright.evaluate.judging.variant_launches import Done, VariantExecutor
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Output
from kernelwright.lazy_dataclasses import dataclass

WORK = 20_000
"""Blocks of instructions that all warps of those chosen run, about."""
LEAST_BLOCKS = 8
"""That run, of a launch: four pairs."""
SHARE = 3
"""A launch of less than so many times the blocks that would run is run whole."""
SEED = 1
"""Of the blocks that are drawn: the same for the original and for every candidate."""


@dataclass(frozen=True, eq=False)
class SomeBlocks:
    """The blocks of a case's one launch that run under other schedules, and what the original's leave in memory."""

    blocks: tuple[int, ...]
    expected: Output

    def executor(self, of: VariantExecutor, schedule: Schedule) -> VariantExecutor:
        """The executor that runs them alone, in the schedule's order."""
        return replace(of, only=tuple(self.blocks[place] for place in schedule.blocks(len(self.blocks))))


def chosen_blocks(count: int, work: int) -> tuple[int, ...]:
    """Pairs of neighbours out of ``count`` blocks that do ``work`` together; none where they would be too many to gain anything."""
    wanted = max(LEAST_BLOCKS, -(-count * WORK // max(work, 1)))
    if count < SHARE * wanted:
        return ()
    firsts = draw(count // 2, wanted // 2, SEED)
    return tuple(block for first in firsts for block in (2 * first, 2 * first + 1))


def some_blocks(
    original: VariantExecutor, run: Callable[[Executor], Output | Rejected], whole: tuple[Done, ...]
) -> SomeBlocks | None:
    """Those of the case whose launches were ``whole``; None where it is run whole: it makes several launches, has few blocks, does
    little, or its blocks do not run by themselves."""
    if len(whole) != 1:
        return None
    x, y, z = whole[0].launched.grid
    blocks = chosen_blocks(x * y * z, int(whole[0].launched.result.executions.sum()))
    if not blocks:
        return None
    output = run(replace(original, only=blocks))
    return None if isinstance(output, Rejected) else SomeBlocks(blocks, output)
