"""Replacing an instruction by a copy of another one (paper 000, section 3.4).

    before   %a = load float, ptr %p         after   %a = load float, ptr %p
             %b = load float, ptr %q                 %c0 = load float, ptr %p
             %s = fadd float %a, %b                  %s = fadd float %a, %c0

The copy stands where the replaced one stood and its value is used in place of the other. Operands that are not there
become the recorded choices.
"""

from __future__ import annotations

from kernelwright.edits.dice import Choice, Dice
from kernelwright.edits.draft import Draft, is_clone_name
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_choices, read_copy_name, read_id
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ReplaceInstruction:
    """Puts a copy of ``source``, to be known as ``name``, in the place of ``subject``."""

    name: str
    subject: Id
    source: Id
    choices: tuple[Choice, ...] = ()

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        if not is_clone_name(self.name) or self.name in draft.clones:
            return f"{self.name} is the name of another copy" if self.name in draft.clones else "it has no proper name"
        refused = (
            draft.refuse(self.subject)
            or draft.refuse(self.source)
            or crossing(draft, self.source, draft.block_of(self.subject), copied=True)
        )
        if refused:
            return refused
        if self.subject == self.source:
            return "an instruction cannot be replaced by itself"
        node = draft.known(self.source)
        if node.type != draft.known(self.subject).type:
            return f"instruction {self.source} makes {node.type}, {self.subject} does not"
        draft.clone(self.source, self.name, self.subject)
        draft.delete(self.subject, "%" + self.name if node.result else None)
        for id, index, value in self.choices:
            draft.prefer((id, index), value)
        return None


def draw(dice: Dice) -> ReplaceInstruction | None:
    """Any two instructions that make values of the same type, or none."""
    draft = dice.draft
    subject = dice.site(dice.sites.replaceable)
    if subject is None:
        return None
    others = dice.sites.alike[draft.known(subject).type]
    source = dice.one(others)
    while source == subject:
        source = dice.one(others)
    name = dice.name()
    place = (draft.block_of(subject), draft.position(subject))
    return ReplaceInstruction(name, subject, source, dice.choices(source, name, place))


def in_words(original: Original, edit: ReplaceInstruction) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    by, _ = describe_instruction(original, edit.source)
    return Words("reused value", f"{what} is a copy of {by}", location)


KIND = EditKind(
    "replace-instruction",
    ReplaceInstruction,
    in_words,
    reads={"name": read_copy_name, "subject": read_id, "source": read_id, "choices": read_choices},
    draw=draw,
    share=8.0,
    in_paper=True,
)
