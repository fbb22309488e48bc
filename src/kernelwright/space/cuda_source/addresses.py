"""Addresses as sums of variables times whole numbers or formulas of sizes, in elements, and their C text."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Loop
from kernelwright.space.computation.objects import Instruction
from kernelwright.space.computation.sizes import Formula, constant, formula_of, shown
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops


@dataclass(frozen=True)
class Address:
    """``nearest``: indexes of loops by their text, in which an iteration that is not there is the last one that is."""

    terms: tuple[tuple[FusedLoop, int], ...]
    offset: int = 0
    nearest: tuple[tuple[str, int], ...] = ()

    def without(self, loop: FusedLoop | None) -> Address:
        """The address less the part that depends on ``loop``: where that loop begins. None: unchanged."""
        return Address(tuple((f, c) for f, c in self.terms if f is not loop), self.offset, self.nearest)

    def text(self) -> str:
        """``m0 * 4096 + thread_y * 64 + k0``, ``(m0 * 64 + thread_y) * k + k0``: the largest step first."""
        by_variable: dict[str, int] = dict(self.nearest)
        for fused, factor in self.terms:
            if fused.varies:
                by_variable[fused.variable] = by_variable.get(fused.variable, 0) + factor
        groups: dict[Formula, list[tuple[str, int]]] = {}
        for name, factor in sorted(by_variable.items(), key=lambda term: -abs(term[1])):
            formula = formula_of(factor)
            whole = int(factor) if formula.is_constant else formula.factor
            step = constant(1) if formula.is_constant else formula.over(whole)
            groups.setdefault(step, []).append((name, whole))
        parts = []
        for step, terms in groups.items():
            texts = [name if factor == 1 else f"{name} * {factor}" for name, factor in terms]
            joined = f"({' + '.join(texts)})" if len(texts) > 1 else texts[0]
            parts += texts if step == constant(1) else [f"{joined} * {_bracketed(step.text())}"]
        return " + ".join([*parts, *([shown(self.offset)] if self.offset or not parts else [])])


def _bracketed(text: str) -> str:
    """To stand in a product."""
    return f"({text})" if " + " in text or " - " in text else text


def global_address(
    loops: FusedLoops, instruction: Instruction, nearest: Collection[Loop] = (), vector: FusedLoop | None = None
) -> Address:
    """Of an access to an argument: a loop's index is that of its rest, times the tiles, plus that of each tile. ``nearest``: loops of
    which it is that of the last iteration, or of the last whole ``vector``, where it would be behind it:
    ``min(k0 * 16 + thread_x, k - 1)``."""
    assert instruction.access is not None
    terms: list[tuple[FusedLoop, int]] = []
    last: list[tuple[str, int]] = []
    for loop, stride in instruction.access.strides:
        if loop not in nearest:
            terms += _terms(loops, instruction, loop, stride)
            continue
        index = index_of(loops, instruction, loop)
        width = vector.size if vector is not None and any(f is vector for f, _ in index.terms) else 1
        last.append((f"min({index.without(vector).text()}, {shown(loop.extent - width)})", stride))
    return Address(tuple(terms), instruction.access.offset, tuple(last))


def index_of(loops: FusedLoops, instruction: Instruction, loop: Loop) -> Address:
    """The iteration of a loop that an instruction is in."""
    return Address(tuple(_terms(loops, instruction, loop, 1)))


def _terms(loops: FusedLoops, instruction: Instruction, loop: Loop, stride: int) -> Iterable[tuple[FusedLoop, int]]:
    levels = sorted((d for d in instruction.dims if d.loop == loop), key=lambda d: -d.level)
    for dim in levels:
        fused = loops.of[dim]
        yield fused, stride
        stride *= fused.size
