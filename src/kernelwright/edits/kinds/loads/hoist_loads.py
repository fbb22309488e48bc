"""Loads before the branch that decides whether they are needed.

    before   head:                                     after   head:
               %x = load i32, ptr %p                             %x = load i32, ptr %p
               %in = icmp ne i32 %x, 0                           %in = icmp ne i32 %x, 0
               br i1 %in, label %then, label %end                %at = getelementptr i32, ptr %q, i32 %i
             then:                                               %y = load i32, ptr %at
               %at = getelementptr i32, ptr %q, i32 %i           br i1 %in, label %then, label %end
               %y = load i32, ptr %at                          then:

What was waited for twice is waited for once. No compiler does it: it would have to know that the addresses are good whatever
the branch decides, and that nothing writes there in between; the edit relies on both. All loads of a block go together, for a
wait is over when the last of them is there. They stay behind fences, and behind accesses that acquire.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.edit_kind import EditKind, Listing
from kernelwright.edits.instruction_words import Words, describe_instruction
from kernelwright.edits.json_fields import read_id, read_number, read_truth
from kernelwright.edits.memory.ordering import crossing
from kernelwright.edits.original import Id, Node, Original
from kernelwright.edits.pin import pin
from kernelwright.ir import Function
from kernelwright.lazy_dataclasses import dataclass

LEVELS = (1, 2, 4)
"""How far up loads are put. At a barrier, or at the end of an ``if``, one level ends."""
MOST_LEVELS = 16


@dataclass(frozen=True)
class HoistLoads:
    """The loads of the block that ``subject`` ends, and what computes their addresses, go to the end of the block that
    dominates it, and so on, ``levels`` times, as far as each can; with ``chains`` also those whose address is loaded there."""

    subject: Id
    chains: bool = False
    levels: int = 1

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        refused = refuse_climb(draft, self.subject, self.levels)
        if refused is None and not self._climb(draft, draft.known(self.subject).block):
            return f"the block that instruction {self.subject} ends has no load that could stand before it"
        return refused

    def _climb(self, draft: Draft, block: int) -> int:
        """How many levels something went up."""
        loads: frozenset[Id] | None = None
        path = draft.original.above[block]
        for level, (here, above) in enumerate(pairwise(path)):
            moved = together(draft, here, self.chains, loads) if level < self.levels else []
            if not moved or any(crossing(draft, id, above) for id in moved):
                return level
            end = draft.order(above)[-1]
            for id in moved:
                draft.move(id, end)
            loads = frozenset(id for id in moved if is_plain_load(draft.known(id)))
            for id in moved:
                if id in loads:
                    pin(draft, id, end)
        return len(path) - 1


def refuse_climb(draft: Draft, subject: Id, levels: int) -> str | None:
    """Why nothing can go up from the block that an instruction ends; None when something may."""
    node = draft.node(subject)
    if node is None or not node.instruction.is_terminator:
        return f"instruction {subject} ends no block"
    if not 1 <= levels <= MOST_LEVELS:
        return f"nothing goes up {levels} levels"
    if len(draft.original.above[node.block]) < 2 or not draft.original.reachable[node.block]:
        return f"no block leads to the one that instruction {subject} ends"
    return None


def together(draft: Draft, block: int, chains: bool, wanted: frozenset[Id] | None = None) -> list[Id]:
    """The loads of a block, all or those ``wanted``, that need nothing of it but what can go along, and that, in order."""
    made = {draft.known(id).result: id for id in draft.order(block) if id not in draft.dead and draft.known(id).result}
    needs: dict[Id, frozenset[Id] | None] = {}
    """By instruction of the block: what has to go along, itself included; None where it has to stay."""
    for id in draft.order(block):
        if id in draft.dead:
            continue
        node = draft.known(id)
        needed = [needs.get(made[operand]) for operand in draft.edited_operands(id) if operand in made]
        if not (is_plain_load(node) or is_pure(node)) or None in needed:
            needs[id] = None
            continue
        along = frozenset({id}).union(*(each for each in needed if each is not None))
        is_chained = any(is_plain_load(draft.known(other)) for other in along - {id})
        needs[id] = None if is_chained and not chains else along
    moved: set[Id] = set()
    for id, along_with in needs.items():
        if along_with is not None and is_plain_load(draft.known(id)) and (wanted is None or id in wanted):
            moved |= along_with
    return [id for id in draft.order(block) if id in moved]


def is_plain_load(node: Node) -> bool:
    """Whether an instruction is a load that may be made elsewhere: not volatile, not atomic."""
    i = node.instruction
    return node.is_free and i.opcode == "load" and not i.volatile and not i.ordering


_UNDEFINED_FOR_ZERO = frozenset({"sdiv", "udiv", "srem", "urem"})
_PURE_CALLS = ("llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.abs.", "llvm.nvvm.read.ptx.sreg.")
"""What addresses are computed with."""


def is_pure(node: Node) -> bool:
    """Whether it does no harm where it is not needed."""
    i = node.instruction
    if i.opcode == "call":
        return node.is_free and isinstance(i.callee, Function) and i.callee.name.startswith(_PURE_CALLS)
    return node.is_free and not node.touches_memory and i.opcode not in _UNDEFINED_FOR_ZERO


def is_end(node: Node) -> bool:
    """Whether an instruction ends its block."""
    return node.instruction.is_terminator


def draw(dice: Dice) -> HoistLoads | None:
    """Any block, by its end."""
    draft = dice.draft
    subject = dice.site(dice.sites.those(is_end))
    if subject is None:
        return None
    edit = HoistLoads(subject, dice.one([False, True]), dice.one(list(LEVELS)))
    block = draft.known(subject).block
    fits = len(draft.original.above[block]) > 1 and together(draft, block, edit.chains)
    return edit if fits else None


def hoistings(original: Original) -> Iterator[HoistLoads]:
    """Every block with loads that can go, one level up; a second time where more go with chains."""
    draft = unchanged(original)
    for block, ids in enumerate(original.order):
        if len(original.above[block]) < 2 or not original.reachable[block]:
            continue
        first = together(draft, block, chains=False)
        if first:
            yield HoistLoads(ids[-1])
        if len(together(draft, block, chains=True)) > len(first):
            yield HoistLoads(ids[-1], chains=True)


def far_hoistings(original: Original) -> Iterator[HoistLoads]:
    """The same further up, where that is another place."""
    for edit in hoistings(original):
        reached = 1
        for levels in LEVELS[1:]:
            further = HoistLoads(edit.subject, edit.chains, levels)
            goes = further._climb(Draft(original), original.nodes[edit.subject].block)
            if goes > reached:
                yield further
            reached = goes


def in_words(original: Original, edit: HoistLoads) -> Words:
    """Kind, sentence and place of the edit, for people."""
    what, location = describe_instruction(original, edit.subject)
    chains = ", those from loaded addresses too," if edit.chains else ""
    where = "the branch that leads there" if edit.levels == 1 else f"{edit.levels} of the branches that lead there"
    sentence = f"the loads of the block that ends with {what}{chains} stand before {where}"
    return Words("order", sentence, location)


KIND = EditKind(
    "hoist-loads",
    HoistLoads,
    in_words,
    reads={"subject": read_id, "chains": read_truth, "levels": read_number},
    draw=draw,
    listed=(Listing(20, hoistings), Listing(30, far_hoistings)),
    keeps_meaning=True,
)
