"""Copying an instruction (paper 000, section 3.4 and Figure 4).

    before   %a = fmul float %x, %y          after   %a = fmul float %x, %y
             store float %b, ptr %p                  %c0 = fmul float %x, %y
                                                     store float %c0, ptr %p

A copy nothing uses has no effect, so an operand further on becomes the copy. Operands that are not there in the new place
become the recorded choices. A copied store or barrier has its effect by itself.
"""

from __future__ import annotations

from kernelwright.edits.dice import Choice, Dice
from kernelwright.edits.draft import END, Draft, is_clone_name
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction, describe_operand
from kernelwright.edits.json_fields import optional, read_choices, read_copy_name, read_id, read_use
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.original import Id, Original, Use
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Copy:
    """Puts a copy of ``source``, to be known as ``name``, before ``before``; operand ``user`` becomes the copy."""

    name: str
    source: Id
    before: Id
    user: Use | None = None
    choices: tuple[Choice, ...] = ()

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        if not is_clone_name(self.name) or self.name in draft.clones:
            return f"{self.name} is the name of another copy" if self.name in draft.clones else "it has no proper name"
        refused = (
            draft.refuse(self.source)
            or draft.refuse_place(self.before)
            or crossing(draft, self.source, draft.block_of(self.before), copied=True)
        )
        if refused:
            return refused
        node = draft.known(self.source)
        if self.user is not None:
            refused = draft.refuse_use(self.user)
            if refused:
                return refused
            if draft.known(self.user[0]).operand_types[self.user[1]] != node.type:
                return f"operand {self.user[1]} of instruction {self.user[0]} is no {node.type}"
        draft.clone(self.source, self.name, self.before)
        for id, index, value in self.choices:
            draft.prefer((id, index), value)
        if self.user is not None:
            draft.set_operand(self.user, "%" + self.name)
        return None


def draw(dice: Dice) -> Copy | None:
    """A source, an operand of its type, and a place from where the copy reaches that operand."""
    draft = dice.draft
    source = dice.site(dice.sites.sources)
    if source is None:
        return None
    name, type = dice.name(), draft.known(source).type
    user = dice.one(dice.sites.slots(type)) if type != "void" else None
    before = _before_use(dice, user) if user is not None else anywhere(dice)
    return Copy(name, source, before, user, dice.choices(source, name, draft.place_before(before)))


def _before_use(dice: Dice, use: Use) -> Id:
    """An instruction before which a value reaches an operand; all of them equally likely."""
    draft = dice.draft
    here, limit = draft.place_of(use)
    phis = draft.original.phis
    rooms = []
    for block in draft.original.above[here]:
        last = min(limit, len(draft.order(block)) - 1)
        rooms.append((block, last - phis[block] + 1))
        limit = END
    at = int(dice.random.random() * sum(room for _, room in rooms))
    for block, room in rooms:
        if at < room:
            return draft.order(block)[phis[block] + at]
        at -= room
    raise AssertionError("the place is inside one of the rooms")


def anywhere(dice: Dice) -> Id:
    """Any instruction, or tombstone, that is ever reached."""
    original = dice.draft.original
    at = int(dice.random.random() * (len(original.places) + len(dice.draft.clones)))
    return original.places[at] if at < len(original.places) else list(dice.draft.clones)[at - len(original.places)]


def in_words(original: Original, edit: Copy) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.source)
    before, _ = describe_instruction(original, edit.before)
    done = f"{what} is done once more before {before}"
    if edit.user is None:
        return Words("repeated work", done, location)
    user, _ = describe_instruction(original, edit.user[0])
    taken = describe_operand(original, *edit.user)
    return Words("reused value", f"{done}, and {user} takes its result in place of {taken}", location)


KIND = EditKind(
    "copy",
    Copy,
    in_words,
    reads={
        "name": read_copy_name,
        "source": read_id,
        "before": read_id,
        "user": optional(read_use),
        "choices": read_choices,
    },
    draw=draw,
    share=4.0,
    in_paper=True,
)
