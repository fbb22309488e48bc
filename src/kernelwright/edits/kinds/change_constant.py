"""Changing a constant: to 0, 1 or -1, by one, to its double, its half or its negative, to the next power of two.

    before   %next = add i32 %i, 1          after   %next = add i32 %i, 2

Integers and floating point numbers alike, also those that come into a phi. It skips work, or does more of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction, describe_operand, describe_value
from kernelwright.edits.json_fields import read_id, read_index, read_value
from kernelwright.edits.original import Id, Original
from kernelwright.edits.plain_constants import neighbours
from kernelwright.lazy_dataclasses import dataclass

_NUMBERS = frozenset(["i8", "i16", "i32", "i64", "half", "float", "double"])


@dataclass(frozen=True)
class ChangeConstant:
    """Operand ``index`` of ``user``, a constant when this was drawn, becomes ``value``, another one, written with its type
    (``i32 2``)."""

    user: Id
    index: int
    value: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        use = (self.user, self.index)
        refused = draft.refuse_use(use)
        if refused:
            return refused
        value = draft.untyped(self.value, draft.known(self.user).operand_types[self.index])
        if value is None or value[0] == "%":
            return f"{self.value} is no constant for operand {self.index} of instruction {self.user}"
        draft.set_operand(use, value)
        draft.prefer(use, self.value)
        return None


def draw(dice: Dice) -> ChangeConstant | None:
    """Any constant number, and one of its neighbours."""
    draft = dice.draft
    use = dice.use(dice.sites.uses(is_number))
    if use is None:
        return None
    type = draft.known(use[0]).operand_types[use[1]]
    values = neighbours(draft.original.types[type], draft.operands(use[0])[use[1]])
    return ChangeConstant(*use, f"{type} {dice.one(values)}") if values else None


def is_number(type: str, value: str) -> bool:
    """Whether an operand is a number that has neighbours."""
    return type in _NUMBERS and (value[0] in "-0123456789")


def changes(original: Original) -> Iterator[ChangeConstant]:
    """Every constant number made each of its neighbours."""
    for type, uses in original.slots.items():
        for user, index in uses if type in _NUMBERS else ():
            for value in neighbours(original.types[type], original.nodes[user].operands[index]):
                yield ChangeConstant(user, index, f"{type} {value}")


def in_words(original: Original, edit: ChangeConstant) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.user)
    before = describe_operand(original, edit.user, edit.index)
    return Words("specialised constant", f"the constant {before} of {what} is {describe_value(edit.value)}", location)


KIND = EditKind(
    "change-constant",
    ChangeConstant,
    in_words,
    reads={"user": read_id, "index": read_index, "value": read_value},
    draw=draw,
    share=6.0,
    listed=(Listing(120, changes),),
)
