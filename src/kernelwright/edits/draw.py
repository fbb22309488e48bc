"""Random edits: an operator by its probability, then a place by its weight. Only what applies is drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from kernelwright.edits import copy, delete, move, replace_instruction, replace_operand, swap
from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.genome import Edit
from kernelwright.edits.original import Id, Original
from kernelwright.edits.repair import repair

DRAWN: dict[str, Callable[[Dice], Edit | None]] = {
    "copy": copy.draw,
    "delete": delete.draw,
    "move": move.draw,
    "replace-instruction": replace_instruction.draw,
    "replace-operand": replace_operand.draw,
    "swap": swap.draw,
}
UNIFORM: Mapping[str, float] = dict.fromkeys(DRAWN, 1.0)
"""Every operator equally likely, as in paper 000 (section 3.4)."""


def draw(
    kernel: Original | Draft,
    random: random.Random,
    *,
    weights: Mapping[Id, float] | None = None,
    operators: Mapping[str, float] = UNIFORM,
) -> Edit | None:
    """An edit that applies to the kernel, or to a variant of it (``Applied.draft``); None when none does.

    ``weights``: how likely an instruction is to be the subject, by its number, such as the cycles it took; one left out is
    none. ``operators``: how likely each kind of edit is, by the names in ``DRAWN``.
    """
    if isinstance(kernel, Original):
        kernel = Draft(kernel)
        repair(kernel)
    dice = Dice(kernel, random, weights)
    left = dict(operators)
    while left:
        name = random.choices(list(left), list(left.values()))[0] if any(left.values()) else ""
        edit = DRAWN[name](dice) if name else None
        if edit is not None or not name:
            return edit
        del left[name]
    return None


def applicable(original: Original) -> Iterator[Edit]:
    """The single edits that can be listed: deletions, and operands made constant. Copies, moves, replacements and swaps
    grow with the square of the kernel and are drawn."""
    yield from delete.deletions(original)
    yield from replace_operand.constant_operands(original)
