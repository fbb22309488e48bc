"""Moving an instruction (paper 000, section 3.4).

    before   %a = load i32, ptr %p           after   store i32 %b, ptr %q
             store i32 %b, ptr %q                    %a = load i32, ptr %p

Operands that are not there in the new place become the recorded choices; users that the value no longer reaches are
repaired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelwright.edits.barriers import is_free_barrier
from kernelwright.edits.dice import Choice, Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_choices, read_id
from kernelwright.edits.kinds.copy import anywhere
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.original import Id, Node, Original
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Move:
    """Puts ``subject`` before ``before``."""

    subject: Id
    before: Id
    choices: tuple[Choice, ...] = ()

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = draft.refuse(self.subject) or draft.refuse_place(self.before)
        if refused:
            return refused
        if self.subject == self.before:
            return "an instruction cannot be moved before itself"
        refused = crossing(draft, self.subject, draft.block_of(self.before))
        if refused:
            return refused
        draft.move(self.subject, self.before)
        for id, index, value in self.choices:
            draft.prefer((id, index), value)
        return None


SLOW = frozenset({"call", "fdiv", "frem", "sdiv", "udiv", "srem", "urem"})

PAST = 4
"""Loads that a barrier is put behind at most: what is loaded from far is then on its way while others are waited for."""


def reorderings(original: Original) -> Iterator[Move]:
    """Moves within a block that no value depends on: loads and slow operations as early as their operands are there, slow ones
    as late as their first user, stores and barriers behind the loads that follow.

    A compiler does none of these where it cannot tell that the memory is another, or that nothing waits; nor does the assembler
    look beyond a slow path, which ends its block.
    """
    draft = unchanged(original)
    for ids in original.order:
        nodes = [original.nodes[id] for id in ids]
        first = sum(node.is_phi for node in nodes)
        for at, node in enumerate(nodes):
            opcode = node.instruction.opcode
            slow = opcode in SLOW and bool(node.result)
            if not node.is_free or crossing(draft, node.id, node.block):
                continue
            if opcode == "load" or slow:
                earliest = max(
                    [first, *(i + 1 for i, n in enumerate(nodes[:at]) if n.result and n.result in node.operands)]
                )
                if any(n.touches_memory and n.instruction.opcode != "load" for n in nodes[earliest:at]):
                    yield Move(node.id, nodes[earliest].id)
            if opcode == "store" or slow:
                for latest in _latest(nodes, at):
                    yield Move(node.id, nodes[latest].id)
            if is_free_barrier(node):
                following = [i for i in range(at + 1, len(nodes) - 1) if nodes[i].instruction.opcode == "load"]
                for load in following[:PAST]:
                    yield Move(node.id, nodes[load + 1].id)


def _latest(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """What an instruction may be put before: its first user; of a store, the next store behind a load, and the end."""
    node, end = nodes[at], len(nodes) - 1
    if node.result:
        user = next((i for i in range(at + 1, end) if node.result in nodes[i].operands), end)
        if user > at + 1:
            yield user
        return
    later = [i for i in range(at + 1, end) if nodes[i].instruction.opcode == "load"]
    if not later:
        return
    store = next((i for i in range(later[0], end) if nodes[i].instruction.opcode == "store"), end)
    yield from dict.fromkeys((store, end))


def draw(dice: Dice) -> Move | None:
    """Any instruction that can move, to any place but its own."""
    draft = dice.draft
    subject = dice.site(dice.sites.free)
    if subject is None or len(draft.original.places) + len(draft.clones) <= 2:
        return None
    order = draft.order(draft.block_of(subject))
    own = {subject, order[draft.position(subject) + 1]}
    before = anywhere(dice)
    while before in own:
        before = anywhere(dice)
    return Move(subject, before, dice.choices(subject, subject, draft.place_before(before)))


def in_words(original: Original, edit: Move) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    before, _ = describe_instruction(original, edit.before)
    return Words("order", f"{what} stands before {before}", location)


KIND = EditKind(
    "move",
    Move,
    in_words,
    reads={"subject": read_id, "before": read_id, "choices": read_choices},
    draw=draw,
    share=6.0,
    in_paper=True,
    listed=(Listing(70, reorderings),),
    keeps_meaning=True,
)
