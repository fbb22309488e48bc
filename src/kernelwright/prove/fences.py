"""How often a launch executes memory fences: no schedule here shows what an absent one changes, so they are counted.

    __threadfence()      call void @llvm.nvvm.membar.gl()      fence syncscope("device") seq_cst      asm "membar.gl;"

Every store is seen at once on the virtual GPU. On a real one a thread may see a flag before the data that it stands for,
unless a fence keeps them in order; one that is narrower (``__threadfence_block``) does so for fewer threads. Barriers are no
fences: what a missing barrier changes shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from kernelwright.codegen.simt.launching.launch_result import LaunchResult
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.ir import Function, InlineAsm, Instruction
from kernelwright.prove.comparison_constants import instructions_of

WIDTHS = ("block", "cluster", "device", "system")
"""For whom a fence keeps the order, from the narrowest."""
Fences = Counter[tuple[str, str]]
"""By kernel and width, how often lanes executed a fence that is at least so wide."""

_INTRINSIC = re.compile(r"llvm\.nvvm\.(?:membar|fence)\.(.*)")
_ASSEMBLY = re.compile(r"(?<![\w.])(?:membar|fence)\.([\w.:]*)")
_CALLED = {"cta": "block", "block": "block", "cluster": "cluster", "gl": "device", "gpu": "device", "device": "device"}


def fences_in(instruction: Instruction) -> tuple[str, ...]:
    """The widths of the fences that an instruction is: none, one, or several in inline assembly."""
    if instruction.opcode == "fence":
        scope = instruction.syncscope or ""
        return () if scope == "singlethread" else (_CALLED.get(scope, "system"),)
    if instruction.opcode != "call":
        return ()
    callee = instruction.callee
    if isinstance(callee, InlineAsm):
        return tuple(map(_width, _ASSEMBLY.findall(callee.text)))
    found = _INTRINSIC.match(callee.name) if isinstance(callee, Function) else None
    return (_width(found[1]),) if found else ()


def _width(words: str) -> str:
    return next((_CALLED[word] for word in words.split(".") if word in _CALLED), "system")


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
