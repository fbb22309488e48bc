"""Where a variant differs from its original: conditions on those lines are aimed at first, and what decides it is changed first."""

from __future__ import annotations

from collections import Counter

from kernelwright.ir import ConstantFloat, ConstantInt, Function, Instruction, source_location
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.coverage.condition_sources import Sources, shared_stores, sources_of

Written = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Edited:
    """``lines``: on which one has instructions that the other has not, or not as many; 0 for instructions without a line."""

    lines: frozenset[int] = frozenset()
    arguments: frozenset[tuple[int, int | None]] = frozenset()
    """What those instructions depend on: numbers among the arguments, with the offset of a field; None: any."""
    pointers: frozenset[int] = frozenset()
    """Arguments whose memory they read."""
    variables: frozenset[str] = frozenset()

    @property
    def sources(self) -> Sources:
        """The numbers, pointers and variables, as conditions have them."""
        return Sources(set(self.arguments), set(self.pointers), set(self.variables))


def edited_lines(original: Function, variant: Function) -> Edited:
    """What the two do not have in common."""
    before, after = _by_line(original), _by_line(variant)
    lines = frozenset(line for line in before.keys() | after.keys() if before.get(line) != after.get(line))
    arguments: set[tuple[int, int | None]] = set()
    pointers: set[int] = set()
    variables: set[str] = set()
    for function, own, others in ((original, before, after), (variant, after, before)):
        stores = shared_stores(function)
        for instruction in function.instructions():
            line, written = _line(instruction), _written(instruction)
            if own[line][written] > others.get(line, Counter())[written]:
                found = sources_of(function, instruction, reached=False, stores=stores)
                arguments |= found.arguments
                pointers |= found.pointers
                variables |= found.variables
    return Edited(lines, frozenset(arguments), frozenset(pointers), frozenset(variables))


def _by_line(function: Function) -> dict[int, Counter[Written]]:
    found: dict[int, Counter[Written]] = {}
    for instruction in function.instructions():
        found.setdefault(_line(instruction), Counter())[_written(instruction)] += 1
    return found


def _line(instruction: Instruction) -> int:
    at = source_location(instruction)
    return at.line if at else 0


def _written(instruction: Instruction) -> Written:
    """What an instruction is, without the names of its operands."""
    constants = tuple(str(v.value) for v in instruction.operands if isinstance(v, ConstantInt | ConstantFloat))
    if instruction.opcode == "call":
        return instruction.opcode, getattr(instruction.callee, "name", ""), constants
    return instruction.opcode, instruction.predicate if instruction.opcode in ("icmp", "fcmp") else "", constants


__all__ = ["Edited", "edited_lines"]
