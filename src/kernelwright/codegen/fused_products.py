"""Which products are fused into their sum: the one rule, for every executor and every printer of code.

Before → after::

    %p = fmul contract float %a, %b
    %s = fadd contract float %p, %c      →      %s = fma(%a, %b, %c)

The GPU's compiler fuses (``-fmad=true``), so results agree with it only when everybody fuses, and with each other only
when everybody fuses the same pairs. The rule: an ``fmul`` whose one and only use is an ``fadd`` or ``fsub`` of the same
block, both with ``contract`` (or ``fast``), becomes part of it. Where both operands of the sum qualify, the left one is
fused and the right one is rounded on its own.
"""

from __future__ import annotations

from typing import NamedTuple

from kernelwright.ir.module import Function, Instruction
from kernelwright.ir.values import Value


class Fused(NamedTuple):
    """``add`` computes ``±(left * right) ± addend`` with one rounding, and ``product`` is not computed at all."""

    product: Instruction
    left: Value
    right: Value
    addend: Value
    negate_product: bool
    negate_addend: bool


def may_contract(instruction: Instruction) -> bool:
    """Whether a product may be fused into this sum, by its flags."""
    return "contract" in instruction.flags or "fast" in instruction.flags


def contractions(function: Function) -> dict[Instruction, Fused]:
    """Every sum of the function that swallows a product, by the ``fadd`` or ``fsub``."""
    found: dict[Instruction, Fused] = {}
    for block in function.blocks:
        for add in block.instructions:
            if add.opcode not in ("fadd", "fsub") or not may_contract(add):
                continue
            left, right = add.operands
            minus = add.opcode == "fsub"
            if left is right:
                continue
            if _is_fusible(left, add):
                assert isinstance(left, Instruction)
                found[add] = Fused(left, left.operands[0], left.operands[1], right, False, minus)
            elif _is_fusible(right, add):
                assert isinstance(right, Instruction)
                found[add] = Fused(right, right.operands[0], right.operands[1], left, minus, False)
    return found


def _is_fusible(value: Value, user: Instruction) -> bool:
    return (
        isinstance(value, Instruction)
        and value.opcode == "fmul"
        and value.parent is user.parent
        and may_contract(value)
        and len(value.uses) == 1
    )
