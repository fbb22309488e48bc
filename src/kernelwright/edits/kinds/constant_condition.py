"""Making a condition constant: of a branch, a select, or anything that takes one bit.

    before   %c = icmp slt i32 %i, %n                   after   br i1 true, label %in, label %out
             br i1 %c, label %in, label %out

It relies on the condition always coming out so; most improvements that survive every check are of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id, read_index, read_truth
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ConstantCondition:
    """Operand ``index`` of ``user``, one bit, becomes ``outcome``."""

    user: Id
    index: int
    outcome: bool

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        use = (self.user, self.index)
        refused = draft.refuse_use(use)
        if refused:
            return refused
        if draft.known(self.user).operand_types[self.index] != "i1":
            return f"operand {self.index} of instruction {self.user} is no condition"
        value = "true" if self.outcome else "false"
        if draft.operands(self.user)[self.index] == value:
            return f"operand {self.index} of instruction {self.user} is {value} already"
        draft.set_operand(use, value)
        draft.prefer(use, f"i1 {value}")
        return None


def draw(dice: Dice) -> ConstantCondition | None:
    """Any condition that is not constant, and either outcome."""
    use = dice.use(dice.sites.uses(is_open))
    return None if use is None else ConstantCondition(*use, dice.random.random() < 0.5)


def is_open(type: str, value: str) -> bool:
    """Whether an operand is a condition that is not constant."""
    return type == "i1" and value[0] == "%"


def conditions(original: Original) -> Iterator[ConstantCondition]:
    """Every condition made true, and made false."""
    for user, index in original.slots.get("i1", ()):
        for outcome in (True, False):
            if original.nodes[user].operands[index] != ("true" if outcome else "false"):
                yield ConstantCondition(user, index, outcome)


def in_words(original: Original, edit: ConstantCondition) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.user)
    outcome = "true" if edit.outcome else "false"
    if edit.user in original.latches:
        return Words("skipped iterations", f"whether the loop goes on is decided once and for all: {outcome}", location)
    return Words("condition", f"the condition of {what} is always {outcome}", location)


KIND = EditKind(
    "constant-condition",
    ConstantCondition,
    in_words,
    reads={"user": read_id, "index": read_index, "outcome": read_truth},
    draw=draw,
    share=12.0,
    listed=(Listing(50, conditions),),
)
