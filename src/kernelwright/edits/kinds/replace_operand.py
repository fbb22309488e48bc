"""Replacing an operand (paper 000, section 3.4).

    before   %s = fadd float %a, %b          after   %s = fadd float %a, %a

The new value is one that is there, or a constant. A branch's condition, a store's value and the index of an address are
operands like any other.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction, describe_operand, describe_value
from kernelwright.edits.json_fields import read_id, read_index, read_value
from kernelwright.edits.kinds import change_constant, constant_condition
from kernelwright.edits.original import Id, Original, Use
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ReplaceOperand:
    """Operand ``index`` of ``user`` becomes ``value``, written with its type (``float %a``)."""

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
        if value is None:
            return f"{self.value} is no value for operand {self.index} of instruction {self.user}"
        draft.set_operand(use, value)
        draft.prefer(use, self.value)
        return None


def draw(dice: Dice) -> ReplaceOperand | None:
    """An operand that may be something else, and what."""
    draft = dice.draft
    for _ in range(20):  # a type may have one value only, such as the address of the only array in shared memory
        user = dice.site(dice.sites.users)
        if user is None:
            return None
        use: Use = (user, dice.one(draft.known(user).editable))
        type = draft.known(user).operand_types[use[1]]
        values = dice.values(type, draft.place_of(use), (draft.operands(user)[use[1]],))
        if values:
            return ReplaceOperand(user, use[1], f"{type} {dice.one(values)}")
    return None


def constant_operands(original: Original) -> Iterator[ReplaceOperand]:
    """Every operand made each of the constants that occur in the kernel with its type, and 1 and 0."""
    for type, uses in original.slots.items():
        for user, index in uses:
            for value in original.constants.get(type, ()):
                if value != original.nodes[user].operands[index]:
                    yield ReplaceOperand(user, index, f"{type} {value}")


def other_constant_operands(original: Original) -> Iterator[ReplaceOperand]:
    """Without conditions, which have a kind of their own, and without what ``ChangeConstant`` comes to."""
    changed = {(e.user, e.index, e.value) for e in change_constant.changes(original)}
    for edit in constant_operands(original):
        if not edit.value.startswith("i1 ") and (edit.user, edit.index, edit.value) not in changed:
            yield edit


def in_words(original: Original, edit: ReplaceOperand) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.user)
    type, _, value = edit.value.partition(" ")
    before = describe_operand(original, edit.user, edit.index)
    if type == "i1" and value in ("true", "false"):
        same = constant_condition.ConstantCondition(edit.user, edit.index, value == "true")
        return constant_condition.in_words(original, same)
    kind = "reused value" if value.startswith("%") else "specialised constant"
    return Words(kind, f"{what} takes {describe_value(edit.value)} in place of {before}", location)


KIND = EditKind(
    "replace-operand",
    ReplaceOperand,
    in_words,
    reads={"user": read_id, "index": read_index, "value": read_value},
    draw=draw,
    share=14.0,
    in_paper=True,
    listed=(Listing(130, other_constant_operands),),
)
