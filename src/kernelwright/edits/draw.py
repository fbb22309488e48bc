"""Random edits: an operator by its probability, then a place by its weight. Only what applies is drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.genome import Edit
from kernelwright.edits.kinds import (
    cache_policy,
    change_constant,
    constant_condition,
    copy,
    delete,
    delete_barrier,
    exchange_to_store,
    fast_math,
    hoist_loads,
    move,
    recipe,
    replace_instruction,
    replace_operand,
    swap,
    unroll,
)
from kernelwright.edits.original import Id, Original

DRAWN: dict[str, Callable[[Dice], Edit | None]] = {
    "cache-policy": cache_policy.draw,
    "change-constant": change_constant.draw,
    "constant-condition": constant_condition.draw,
    "copy": copy.draw,
    "delete": delete.draw,
    "delete-barrier": delete_barrier.draw,
    "exchange-to-store": exchange_to_store.draw,
    "fast-math": fast_math.draw,
    "hoist-loads": hoist_loads.draw,
    "move": move.draw,
    "recipe": recipe.draw,
    "replace-instruction": replace_instruction.draw,
    "replace-operand": replace_operand.draw,
    "swap": swap.draw,
    "unroll": unroll.draw,
}
"""By kind of edit, its draw. ``known`` stands for another one: an edit of those that hold for every training launch."""
KNOWN = "known"
UNIFORM: Mapping[str, float] = dict.fromkeys(
    ("copy", "delete", "move", "replace-instruction", "replace-operand", "swap"), 1.0
)
"""The six of paper 000 (section 3.4), equally likely as there."""
OPERATORS: Mapping[str, float] = {
    "constant-condition": 12.0,
    "delete-barrier": 6.0,
    "delete": 36.0,
    "replace-operand": 14.0,
    "change-constant": 6.0,
    "replace-instruction": 8.0,
    "move": 6.0,
    "copy": 4.0,
    "swap": 2.0,
    KNOWN: 6.0,
    "unroll": 3.0,
    "recipe": 1.0,
}
"""By how often single edits of the kind paid, measured. Exchanges are few and listed, so none is drawn. Cache policies and
fast-math flags are left to real GPUs and to those who ask for them: the virtual one sees no gain in either."""


def draw(
    kernel: Original | Draft,
    random: random.Random,
    *,
    weights: Mapping[Id, float] | None = None,
    operators: Mapping[str, float] = UNIFORM,
    known: Sequence[Edit] = (),
) -> Edit | None:
    """An edit that applies to the kernel, or to a variant of it (``Applied.draft``); None when none does.

    ``weights``: how likely an instruction is to be the subject, by its number, such as the cycles it took; one left out is
    none. ``operators``: how likely each kind of edit is, by the names in ``DRAWN``. ``known``: edits that hold for every
    training launch (``known_edits``), drawn as the operator ``known``.
    """
    draft = unchanged(kernel) if isinstance(kernel, Original) else kernel
    dice = Dice(draft, random, weights)
    left = dict(operators)
    while left:
        name = random.choices(list(left), list(left.values()))[0] if any(left.values()) else ""
        edit = None
        if name:
            edit = _one_known(dice, known) if name == KNOWN else DRAWN[name](dice)
        if edit is not None or not name:
            return edit
        del left[name]
    return None


def _one_known(dice: Dice, known: Sequence[Edit]) -> Edit | None:
    open = [edit for edit in known if edit not in dice.draft.applied]
    return dice.one(open) if open else None


def applicable(original: Original) -> Iterator[Edit]:
    """The single edits of the paper's kinds that can be listed: deletions, and operands made constant. Copies, moves,
    replacements and swaps grow with the square of the kernel and are drawn."""
    yield from delete.deletions(original)
    yield from replace_operand.constant_operands(original)
