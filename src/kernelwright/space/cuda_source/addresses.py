"""Addresses as sums of variables times whole numbers, in elements, and their C text."""

from __future__ import annotations

from collections.abc import Iterable

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.objects import Instruction
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops


@dataclass(frozen=True)
class Address:
    terms: tuple[tuple[FusedLoop, int], ...]
    offset: int = 0

    def without(self, loop: FusedLoop | None) -> Address:
        return Address(tuple((f, c) for f, c in self.terms if f is not loop), self.offset)

    def text(self) -> str:
        """``m0 * 4096 + thread_y * 64 + k0``: the largest step first."""
        by_variable: dict[str, int] = {}
        for fused, factor in self.terms:
            if fused.size > 1:
                by_variable[fused.variable] = by_variable.get(fused.variable, 0) + factor
        ordered = sorted(by_variable.items(), key=lambda term: -abs(term[1]))
        parts = [name if factor == 1 else f"{name} * {factor}" for name, factor in ordered]
        return " + ".join([*parts, *([str(self.offset)] if self.offset or not parts else [])])


def global_address(loops: FusedLoops, instruction: Instruction) -> Address:
    """Of an access to an argument: a loop's index is that of its rest, times the tiles, plus that of each tile."""
    assert instruction.access is not None
    terms: list[tuple[FusedLoop, int]] = []
    for loop, stride in instruction.access.strides:
        terms += _terms(loops, instruction, loop, stride)
    return Address(tuple(terms), instruction.access.offset)


def index_of(loops: FusedLoops, instruction: Instruction, loop: Loop) -> Address:
    """The iteration of a loop that an instruction is in."""
    return Address(tuple(_terms(loops, instruction, loop, 1)))


def _terms(loops: FusedLoops, instruction: Instruction, loop: Loop, stride: int) -> Iterable[tuple[FusedLoop, int]]:
    levels = sorted((d for d in instruction.dims if d.loop == loop), key=lambda d: -d.level)
    for dim in levels:
        fused = loops.of[dim]
        yield fused, stride
        stride *= fused.size
