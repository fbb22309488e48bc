"""How often a launch executes memory fences: schedules of weak memory do not show all that an absent one changes, so they are counted.

    __threadfence()      call void @llvm.nvvm.membar.gl()      fence syncscope("device") seq_cst      asm "membar.gl;"

Under most schedules every store is seen at once. On a real GPU a thread may see a flag before the data that it stands for,
unless a fence keeps them in order; one that is narrower (``__threadfence_block``) does so for fewer threads. Barriers are no
fences: what a missing barrier changes shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.ir import Function
from kernelwright.ir.fences import WIDTHS, fences_in
from kernelwright.prove.changed_inputs.comparison_constants import instructions_of

Fences = Counter[tuple[str, str]]
"""By kernel and width, how often lanes executed a fence that is at least so wide."""


def has_fences(kernel: Function) -> bool:
    """Whether the kernel or a function it calls has one."""
    return any(fences_in(instruction) for instruction in instructions_of(kernel))


class FencesOf:
    """The fences of a kernel as it was compiled, by the blocks whose executions are counted."""

    def __init__(self, kernel: HostKernel) -> None:
        self.kernel = kernel
        self._blocks = list(_blocks(kernel))

    def executed(self, kernel: str, result: LaunchResult) -> Fences:
        """What one launch of ``kernel`` executed."""
        found: Fences = Counter()
        for number, widths in self._blocks:
            lanes = int(result.lanes[number])
            for width in widths:
                for narrower in WIDTHS[: WIDTHS.index(width) + 1]:
                    found[kernel, narrower] += lanes
        return found


def _blocks(kernel: HostKernel) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, block in enumerate(kernel.blocks):
        # The first part of a block runs as often as all of it.
        if block.origin is not None and block.part == 0:
            widths = tuple(width for i in block.origin.instructions for width in fences_in(i))
            if widths:
                yield number, widths


def fewer(original: Mapping[tuple[str, str], int], variant: Mapping[tuple[str, str], int]) -> tuple[str, str] | None:
    """A kernel and width of which the variant executes fewer fences than the original, the narrowest; None: of none."""
    lacking = [key for key, count in original.items() if variant.get(key, 0) < count]
    return min(lacking, key=lambda key: (WIDTHS.index(key[1]), key[0]), default=None)


__all__ = ["WIDTHS", "Fences", "FencesOf", "fences_in", "fewer", "has_fences"]
