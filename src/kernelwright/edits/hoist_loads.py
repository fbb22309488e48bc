"""Loads before the branch that decides whether they are needed.

    before   head:                                     after   head:
               %x = load i32, ptr %p                             %x = load i32, ptr %p
               %in = icmp ne i32 %x, 0                           %in = icmp ne i32 %x, 0
               br i1 %in, label %then, label %end                %at = getelementptr i32, ptr %q, i32 %i
             then:                                               %y = load i32, ptr %at
               %at = getelementptr i32, ptr %q, i32 %i           br i1 %in, label %then, label %end
               %y = load i32, ptr %at                          then:

What was waited for twice is waited for once. No compiler does it: it would have to know that the addresses are good whatever
the branch decides, and that nobody writes there in between; the edit relies on both. All loads of a block go together, for a
wait is over when the last of them is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft, unchanged
from kernelwright.edits.original import Id, Node, Original
from kernelwright.ir import Function


@dataclass(frozen=True)
class HoistLoads:
    """The loads of the block that ``subject`` ends, and what computes their addresses, go to the end of the block that
    dominates it; with ``chains`` also those whose address is loaded there."""

    subject: Id
    chains: bool = False

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""
        node = draft.node(self.subject)
        if node is None or not node.instruction.is_terminator:
            return f"instruction {self.subject} ends no block"
        above = draft.original.above[node.block]
        if len(above) < 2 or not draft.original.reachable[node.block]:
            return f"no block leads to the one that instruction {self.subject} ends"
        moved = _together(draft, node.block, self.chains)
        if not moved:
            return f"the block that instruction {self.subject} ends has no load that could stand before it"
        end = draft.order(above[1])[-1]
        for id in moved:
            draft.move(id, end)
        return None


def _together(draft: Draft, block: int, chains: bool) -> list[Id]:
    """The loads of a block that need nothing of it but what can go along, and that, in order."""
    made = {draft.known(id).result: id for id in draft.order(block) if id not in draft.dead and draft.known(id).result}
    needs: dict[Id, frozenset[Id] | None] = {}
    """By instruction of the block: what has to go along, itself included; None where it has to stay."""
    for id in draft.order(block):
        if id in draft.dead:
            continue
        node = draft.known(id)
        loads_of = [needs.get(made[operand]) for operand in draft.operands(id) if operand in made]
        if not (_is_plain_load(node) or _is_pure(node)) or None in loads_of:
            needs[id] = None
            continue
        along = frozenset({id}).union(*(each for each in loads_of if each is not None))
        is_chained = any(_is_plain_load(draft.known(other)) for other in along - {id})
        needs[id] = None if is_chained and not chains else along
    moved: set[Id] = set()
    for id, along_with in needs.items():
        if along_with is not None and _is_plain_load(draft.known(id)):
            moved |= along_with
    return [id for id in draft.order(block) if id in moved]


def _is_plain_load(node: Node) -> bool:
    i = node.instruction
    return node.is_free and i.opcode == "load" and not i.volatile and not i.ordering


_UNDEFINED_FOR_ZERO = frozenset({"sdiv", "udiv", "srem", "urem"})
_PURE_CALLS = ("llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.abs.", "llvm.nvvm.read.ptx.sreg.")
"""What addresses are computed with."""


def _is_pure(node: Node) -> bool:
    """Whether it does no harm where it is not needed."""
    i = node.instruction
    if i.opcode == "call":
        return node.is_free and isinstance(i.callee, Function) and i.callee.name.startswith(_PURE_CALLS)
    return node.is_free and not node.touches_memory and i.opcode not in _UNDEFINED_FOR_ZERO


def _is_end(node: Node) -> bool:
    return node.instruction.is_terminator


def draw(dice: Dice) -> HoistLoads | None:
    """Any block, by its end."""
    subject = dice.site(dice.sites.those(_is_end))
    if subject is None:
        return None
    edit = HoistLoads(subject, dice.one([False, True]))
    node = dice.draft.known(subject)
    fits = len(dice.draft.original.above[node.block]) > 1 and _together(dice.draft, node.block, edit.chains)
    return edit if fits else None


def hoistings(original: Original) -> Iterator[HoistLoads]:
    """Every block with loads that can go; a second time where more go with chains."""
    draft = unchanged(original)
    for block, ids in enumerate(original.order):
        if len(original.above[block]) < 2 or not original.reachable[block]:
            continue
        first = _together(draft, block, chains=False)
        if first:
            yield HoistLoads(ids[-1])
        if len(_together(draft, block, chains=True)) > len(first):
            yield HoistLoads(ids[-1], chains=True)
