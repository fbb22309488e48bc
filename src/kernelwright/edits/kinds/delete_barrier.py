"""Deleting a barrier: the edit that pays most often, and the least safe one.

    before   store float %a, ptr addrspace(3) %p          after   store float %a, ptr addrspace(3) %p
             call void @llvm.nvvm.barrier...(i32 0)               %b = load float, ptr addrspace(3) %q
             %b = load float, ptr addrspace(3) %q

It relies on no thread reading what another one writes on the other side. ``edits/barriers.py`` says what is a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.barriers import is_barrier, is_free_barrier
from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id
from kernelwright.edits.original import Id, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class DeleteBarrier:
    """Deletes the barrier ``subject``."""

    subject: Id

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject)
        if refused:
            return refused
        if not is_barrier(draft.known(self.subject).instruction):
            return f"instruction {self.subject} is no barrier"
        draft.delete(self.subject, None)
        return None


def draw(dice: Dice) -> DeleteBarrier | None:
    """Any barrier."""
    subject = dice.site(dice.sites.those(is_free_barrier))
    return None if subject is None else DeleteBarrier(subject)


def barriers(original: Original) -> Iterator[DeleteBarrier]:
    """Every barrier deleted."""
    for id in original.free:
        if is_free_barrier(original.nodes[id]):
            yield DeleteBarrier(id)


def in_words(original: Original, edit: DeleteBarrier) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    return Words("removed barrier", f"{what} is gone", location)


KIND = EditKind(
    "delete-barrier",
    DeleteBarrier,
    in_words,
    reads={"subject": read_id},
    draw=draw,
    share=6.0,
    listed=(Listing(60, barriers),),
)
