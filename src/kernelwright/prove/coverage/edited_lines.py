"""The source lines on which a variant differs from its original: where conditions are aimed at first."""

from __future__ import annotations

from collections import Counter

from kernelwright.ir import ConstantFloat, ConstantInt, Function, Instruction, source_location

Written = tuple[str, str, tuple[int | float, ...]]


def edited_lines(original: Function, variant: Function) -> frozenset[int]:
    """The lines on which one has instructions that the other has not, or not as many; 0 for instructions without a line."""
    before, after = _by_line(original), _by_line(variant)
    return frozenset(line for line in before.keys() | after.keys() if before.get(line) != after.get(line))


def _by_line(function: Function) -> dict[int, Counter[Written]]:
    found: dict[int, Counter[Written]] = {}
    for instruction in function.instructions():
        at = source_location(instruction)
        found.setdefault(at.line if at else 0, Counter())[_written(instruction)] += 1
    return found


def _written(instruction: Instruction) -> Written:
    """What an instruction is, without the names of its operands."""
    constants = tuple(v.value for v in instruction.operands if isinstance(v, ConstantInt | ConstantFloat))
    predicate = instruction.predicate if instruction.opcode in ("icmp", "fcmp") else ""
    return instruction.opcode, predicate, constants
