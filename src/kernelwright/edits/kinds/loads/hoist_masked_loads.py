"""Loads before the branch that decides whether they are needed; where they are not, they read the first element of their memory.

    before   head:                                     after   head:
               br i1 %in, label %then, label %end                %at = getelementptr i32, ptr %q, i32 %i
             then:                                               %from = select i1 %in, ptr %at, ptr %q
               %at = getelementptr i32, ptr %q, i32 %i           %y = load i32, ptr %from
               %y = load i32, ptr %at                            br i1 %in, label %then, label %end
                                                               then:

What ``hoist-loads`` hopes for, that the address is good whatever the branch decides, need not be known here: a thread that takes the
other way reads what the guard says is there (``bytes behind q >= 4``), and nothing uses it. It costs an instruction, and the load waits
for the condition; it still waits together with the loads beside it. So it relies on nothing but that nothing writes there in between.

It goes up over branches of which one decides, and from blocks that are always reached. The address has to be made from an argument. What
is read in its place is behind an argument that the kernel only reads: reading what others write at that time would look like a race.
"""

from __future__ import annotations

from itertools import pairwise

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import SAME_RESULT, EditKind
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id, read_number
from kernelwright.edits.kinds.loads.hoist_loads import (
    LEVELS,
    HoistLoads,
    is_end,
    refuse_climb,
    together,
)
from kernelwright.edits.kinds.loads.masks import Masks
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.memory.pointers import Pointers
from kernelwright.edits.memory.ways import Taken, way
from kernelwright.edits.original import Id, Original
from kernelwright.edits.pin import pin
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class HoistMaskedLoads:
    """The loads of the block that ``subject`` ends, and what computes their addresses, go to the end of the block that dominates it,
    and so on, ``levels`` times, as far as each can."""

    subject: Id
    levels: int = 1

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = refuse_climb(draft, self.subject, self.levels)
        if refused is None and not _Climb(draft).climb(draft.known(self.subject).block, self.levels):
            return f"the block that instruction {self.subject} ends has no load that could be masked"
        return refused


class _Climb:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._masks = Masks(draft, Pointers(draft))
        self._instead: dict[Id, int] = {}
        """By load, the argument behind which it reads where it is not needed."""

    def climb(self, block: int, levels: int) -> int:
        """How many levels something went up."""
        draft = self._draft
        loads = self._loads(block)
        path = draft.original.above[block]
        for level, (here, above) in enumerate(pairwise(path)):
            taken, moved = self._step(here, above, loads) if level < levels else ((), [])
            if not moved:
                return level
            end = draft.order(above)[-1]
            for id in moved:
                draft.move(id, end)
            loads = loads.intersection(moved)
            for id in (id for id in moved if id in loads):
                for each in taken:
                    self._masks.mask(id, each, self._instead[id])
                pin(draft, id, end)
        return len(path) - 1

    def can_climb(self, block: int) -> bool:
        """Whether something would go up a level; the draft stays as it is."""
        path = self._draft.original.above[block]
        return len(path) > 1 and bool(self._step(path[0], path[1], self._loads(block))[1])

    def _loads(self, block: int) -> frozenset[Id]:
        """The loads of a block that can be masked."""
        for id in together(self._draft, block, False):
            index = self._masks.instead_of(id)
            if index is not None:
                self._instead[id] = index
        return frozenset(self._instead)

    def _step(self, here: int, above: int, loads: frozenset[Id]) -> tuple[tuple[Taken, ...], list[Id]]:
        """The branches that decide whether loads are needed, and what goes from one block to the other; nothing where that cannot be."""
        taken = way(self._draft.original, above, here)
        moved = together(self._draft, here, False, loads) if taken is not None else []
        if taken is None or any(crossing(self._draft, id, above) for id in moved):
            return (), []
        return taken, moved


def masked(edit: HoistLoads) -> HoistMaskedLoads:
    """The same loads to the same place, masked: those that depend on loads beside them stay."""
    return HoistMaskedLoads(edit.subject, edit.levels)


def draw(dice: Dice) -> HoistMaskedLoads | None:
    """Any block, by its end."""
    draft = dice.draft
    subject = dice.site(dice.sites.those(is_end))
    if subject is None:
        return None
    block = draft.known(subject).block
    fits = draft.original.reachable[block] and _Climb(draft).can_climb(block)
    return HoistMaskedLoads(subject, dice.one(list(LEVELS))) if fits else None


def in_words(original: Original, edit: HoistMaskedLoads) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    where = "the branch that leads there" if edit.levels == 1 else f"{edit.levels} of the branches that lead there"
    sentence = f"the loads of the block that ends with {what} stand before {where}, and read a first element where they are not needed"
    return Words("order", sentence, location)


KIND = EditKind(
    "hoist-masked-loads",
    HoistMaskedLoads,
    in_words,
    reads={"subject": read_id, "levels": read_number},
    draw=draw,
    relies_on=SAME_RESULT,
    keeps_meaning=True,
)
"""It is not listed: as single edits they gain what plain ones gain, and take the place of those that fall short (``stories``)."""
