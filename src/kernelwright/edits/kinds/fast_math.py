"""Fast-math flags for a floating point operation.

    before   %q = fdiv float %a, %b          after   %q = fdiv afn float %a, %b
             div.rn.f32 %r1, %r2, %r3;               div.approx.f32 %r1, %r2, %r3;

``contract`` and ``reassoc`` let LLVM fuse and regroup, ``arcp`` multiply by a reciprocal, ``afn`` approximate (division, square
root, sine, ...), ``nsz`` ignore the sign of zero; ``nnan`` and ``ninf`` promise that no such value comes; ``fast`` is all of
these. Results may differ in their last bits. What ``afn`` rounds away happens on a GPU only: the virtual one divides exactly.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id, read_word
from kernelwright.edits.line_templates import FAST_FLAGS
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir.flags import FLAGS, is_floating
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class FastMath:
    """The operation ``subject`` gets ``flag``, besides those it has."""

    subject: Id
    flag: str

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        if draft.node(self.subject) is None or self.subject in draft.dead:
            return draft.refuse(self.subject)
        if self.flag not in FAST_FLAGS:
            return f"there is no fast-math flag {self.flag!r}"
        if not is_float_operation(draft.known(self.subject)):
            return f"instruction {self.subject} is no floating point operation"
        had = draft.extras.get(self.subject, ())
        if {self.flag, "fast"} & set(had):
            return f"instruction {self.subject} has {self.flag} already"
        draft.extras[self.subject] = tuple(sorted({*had, self.flag}))
        return None


def is_float_operation(node: Node) -> bool:
    """Whether fast-math flags can stand there."""
    i = node.instruction
    if "contract" not in FLAGS.get(i.opcode, ()):
        return False
    return i.opcode == "fcmp" or is_floating(i.type)


def _kept_flags(id: Id, draft: Draft) -> tuple[str, ...]:
    """The flags of the original that still stand: a touched instruction has lost some, and may get them again."""
    return () if id in draft.touched else draft.known(id).instruction.flags


def draw(dice: Dice) -> FastMath | None:
    """Any floating point operation, and a flag it lacks."""
    subject = dice.site(dice.sites.those(is_float_operation))
    if subject is None:
        return None
    draft = dice.draft
    had = {*draft.extras.get(subject, ()), *_kept_flags(subject, draft)}
    lacking = [flag for flag in FAST_FLAGS if flag not in had] if "fast" not in had else []
    return FastMath(subject, dice.one(lacking)) if lacking else None


def fast_math(original: Original) -> Iterator[FastMath]:
    """Every floating point operation with each flag it lacks."""
    for id, node in original.nodes.items():
        if is_float_operation(node) and "fast" not in node.instruction.flags:
            for flag in FAST_FLAGS:
                if flag not in node.instruction.flags:
                    yield FastMath(id, flag)


def in_words(original: Original, edit: FastMath) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    return Words("precision", f"{what} may be computed with {edit.flag}", location)


# It is neither drawn by default nor listed: a real GPU gains by it, the virtual one does not.
KIND = EditKind(
    "fast-math",
    FastMath,
    in_words,
    reads={"subject": read_id, "flag": read_word},
    draw=draw,
    relies_on="results may be rounded otherwise; the outputs are {alone} with this edit alone",
)
