"""Where a variant differs from its original: conditions on those lines are aimed at first, and what is gone from them is looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kernelwright.ir import ConstantFloat, ConstantInt, Function, Instruction, source_location

Written = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Edited:
    """``lines``: on which one has instructions that the other has not, or not as many; 0 for instructions without a line."""

    lines: frozenset[int] = frozenset()
    gone: frozenset[tuple[int, Written]] = frozenset()
    """By line, the instructions that the original has more of."""

    def is_gone(self, instruction: Instruction) -> bool:
        return (_line(instruction), _written(instruction)) in self.gone


def edited_lines(original: Function, variant: Function) -> Edited:
    """What the two do not have in common."""
    before, after = _by_line(original), _by_line(variant)
    lines = frozenset(line for line in before.keys() | after.keys() if before.get(line) != after.get(line))
    gone = frozenset((line, one) for line, some in before.items() for one in some - after.get(line, Counter()))
    return Edited(lines, gone)


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
