"""Swapping two instructions (paper 000, section 3.4).

    before   %a = load i32, ptr %p           after   store i32 0, ptr %q
             ...                                     ...
             store i32 0, ptr %q                     %a = load i32, ptr %p

Operands that are not there in the new places become the recorded choices.
"""

from __future__ import annotations

from kernelwright.edits.dice import Choice, Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_choices, read_id
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Swap:
    """Puts ``first`` where ``second`` is, and ``second`` where ``first`` is."""

    first: Id
    second: Id
    choices: tuple[Choice, ...] = ()

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.first) or draft.refuse(self.second)
        if refused:
            return refused
        if self.first == self.second:
            return "an instruction cannot be swapped with itself"
        first, second = draft.block_of(self.first), draft.block_of(self.second)
        refused = crossing(draft, self.first, second) or crossing(draft, self.second, first)
        if refused:
            return refused
        draft.swap(self.first, self.second)
        for id, index, value in self.choices:
            draft.prefer((id, index), value)
        return None


def draw(dice: Dice) -> Swap | None:
    """Any two instructions that can move."""
    draft = dice.draft
    first = dice.site(dice.sites.free)
    if first is None or len(dice.sites.free) < 2:
        return None
    second = dice.one(dice.sites.free)
    while second == first:
        second = dice.one(dice.sites.free)
    one, other = ((draft.block_of(i), draft.position(i)) for i in (first, second))
    return Swap(first, second, dice.choices(first, first, other) + dice.choices(second, second, one))


def in_words(original: Original, edit: Swap) -> Words:
    """Kind, sentence and place of the edit, for people."""
    first, location = describe_instruction(original, edit.first)
    second, _ = describe_instruction(original, edit.second)
    return Words("order", f"{first} and {second} change places", location)


KIND = EditKind(
    "swap",
    Swap,
    in_words,
    reads={"first": read_id, "second": read_id, "choices": read_choices},
    draw=draw,
    share=2.0,
    in_paper=True,
)
