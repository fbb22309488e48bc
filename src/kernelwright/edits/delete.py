"""Deleting an instruction (paper 000, section 3.4).

    before   %sum = fadd float %a, %b          after
             store float %sum, ptr %p                   store float %a, ptr %p

What used the deleted value uses the recorded replacement instead: one of its own operands, or zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelwright.ir import Function, Instruction, Value, zero

# Removing these changes the control flow, which edits leave alone, or leaves a block without its end.
_FIXED = frozenset({"phi", "br", "switch", "ret", "unreachable", "indirectbr", "invoke", "resume", "callbr", "alloca"})


@dataclass(frozen=True)
class Delete:
    """Deletes the instruction with number ``subject``, counted from 0 in the order of the original function.

    ``replacement`` is the index of the operand that takes the place of its value, or None for zero (or for an instruction
    without a value).
    """

    subject: int
    replacement: int | None = None

    def apply(self, numbered: list[Instruction]) -> bool:
        """Applies itself to a function whose original instructions are ``numbered``; False when the subject is gone."""
        instruction = numbered[self.subject]
        if instruction.parent is None:
            return False
        if instruction.has_result:
            instruction.replace_all_uses_with(self._value(instruction))
        instruction.erase()
        return True

    def _value(self, instruction: Instruction) -> Value:
        if self.replacement is not None:
            return instruction.operands[self.replacement]
        return zero(instruction.type)


def number_instructions(function: Function) -> list[Instruction]:
    """All instructions in order; an instruction's place in this list is its stable number."""
    return [instruction for block in function.blocks for instruction in block.instructions]


def deletions(function: Function) -> Iterator[Delete]:
    """Every deletion that applies to ``function``: search, tests and docs enumerate the same thing."""
    for number, instruction in enumerate(number_instructions(function)):
        if instruction.opcode in _FIXED:
            continue
        if not instruction.has_result:
            yield Delete(number)
            continue
        for index, operand in enumerate(instruction.operands):
            if operand.type is instruction.type and operand is not instruction:
                yield Delete(number, index)
