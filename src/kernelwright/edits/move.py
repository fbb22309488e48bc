"""Moving an instruction (paper 000, section 3.4).

    before   %a = load i32, ptr %p           after   store i32 %b, ptr %q
             store i32 %b, ptr %q                    %a = load i32, ptr %p

Operands that are not there in the new place become the recorded choices; users that the value no longer reaches are
repaired.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.edits.copy import anywhere
from kernelwright.edits.dice import Choice, Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.original import Id


@dataclass(frozen=True)
class Move:
    """Puts ``subject`` before ``before``."""

    subject: Id
    before: Id
    choices: tuple[Choice, ...] = ()

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject) or draft.refuse_place(self.before)
        if refused:
            return refused
        if self.subject == self.before:
            return "an instruction cannot be moved before itself"
        draft.move(self.subject, self.before)
        for id, index, value in self.choices:
            draft.prefer((id, index), value)
        return None


def draw(dice: Dice) -> Move | None:
    """Any instruction that can move, to any place but its own."""
    draft = dice.draft
    subject = dice.site(dice.sites.free)
    if subject is None or len(draft.original.places) + len(draft.clones) <= 2:
        return None
    order = draft.order(draft.block_of(subject))
    own = {subject, order[draft.position(subject) + 1]}
    before = anywhere(dice)
    while before in own:
        before = anywhere(dice)
    return Move(subject, before, dice.choices(subject, subject, draft.place_before(before)))
