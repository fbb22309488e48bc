"""How often one loop is unrolled: the part of a compile recipe that belongs to a place. It keeps the meaning. Where a
product of one turn meets its sum in the next, the two may then be fused, and rounded once
(``prove/obligations/by_construction/edit_kinds.py``).

before   br i1 %more, label %loop, label %end          after   br i1 %more, label %loop, label %end, !llvm.loop !9
                                                               !9 = distinct !{!9, !10}
                                                               !10 = !{!"llvm.loop.unroll.count", i32 4}
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind, Listing
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.json_fields import read_id, read_number
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass

COUNTS = (0, 1, 2, 3, 4, 8, 16)
"""Those that are drawn. 0: wholly, 1: not at all."""
LARGEST = 64


@dataclass(frozen=True)
class Unroll:
    """The loop that ``subject``, a branch back to its header, closes: ``count`` times (0: wholly, 1: not at all)."""

    subject: Id
    count: int

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot. The last one of a loop is in effect."""
        if self.subject not in draft.original.latches:
            return f"instruction {self.subject} closes no loop"
        if not 0 <= self.count <= LARGEST:
            return f"no loop is unrolled {self.count} times"
        if draft.unrolled.get(self.subject) == self.count:
            return f"the loop is unrolled {self.count} times already"
        draft.unrolled[self.subject] = self.count
        return None


def draw(dice: Dice) -> Unroll | None:
    """Any loop, any of the counts but the one it has."""
    draft = dice.draft
    subject = dice.site(list(draft.original.latches))
    if subject is None:
        return None
    return Unroll(subject, dice.one([n for n in COUNTS if n != draft.unrolled.get(subject)]))


def unrollings(original: Original) -> Iterator[Unroll]:
    """Every loop with each of the counts."""
    for id in original.latches:
        for count in COUNTS:
            yield Unroll(id, count)


def in_words(original: Original, edit: Unroll) -> Words:
    """Kind, sentence and place of the edit, for people."""
    location = original.location(edit.subject)
    how = {0: "wholly unrolled", 1: "not unrolled"}.get(edit.count, f"unrolled {edit.count} times")
    return Words("compile recipe", f"the loop is {how}", location)


KIND = EditKind(
    "unroll",
    Unroll,
    in_words,
    reads={"subject": read_id, "count": read_number},
    draw=draw,
    share=3.0,
    listed=(Listing(40, unrollings),),
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
