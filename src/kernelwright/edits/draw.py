"""Random edits: an operator by its probability, then a place by its weight. Only what applies is drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.original import Id, Original
from kernelwright.edits.table import BY_NAME, KINDS

KNOWN = "known"
"""Stands for the kinds whose edits hold for every training launch (``known_edits``): one of those is drawn."""
KNOWN_SHARE = 6.0


def _default_operators() -> dict[str, float]:
    """By kind its share, in the order of the table; ``known`` where the first of its kinds stands."""
    found: dict[str, float] = {}
    for kind in KINDS:
        if kind.known is not None:
            found[KNOWN] = KNOWN_SHARE
        elif kind.share:
            found[kind.name] = kind.share
    return found


DRAWN: dict[str, Callable[[Dice], Edit | None]] = {
    name: kind.draw for name, kind in BY_NAME.items() if kind.draw is not None
}
"""By kind of edit, its draw."""
UNIFORM: Mapping[str, float] = {name: 1.0 for name, kind in BY_NAME.items() if kind.in_paper}
"""The six of paper 000 (section 3.4), equally likely as there."""
OPERATORS: Mapping[str, float] = _default_operators()
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
