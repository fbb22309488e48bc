"""What stands elsewhere: a moved instruction owes that nothing it crosses could tell the difference.

A value made of other values may be made anywhere: all that dominates a use is of one turn of every loop around it, so the operands are
the same ones. Two loads may change places. A load may cross a store into other memory, and a barrier or an atomic operation if nothing
writes what it reads while the kernel runs. Accesses to what may be the same memory are a question to the solver (``crossings``).
Nothing else crosses anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kernelwright.edits.instruction_words import describe_instruction
from kernelwright.edits.kinds.require_launch import guard_json
from kernelwright.edits.original import Id
from kernelwright.guards import Apart
from kernelwright.ir import BasicBlock, ConstantInt, Function, Instruction
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.effects import (
    Effect,
    bases,
    effect_of,
    may_write_anywhere,
    needed_apart,
    pointer_of,
    read_only,
)
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.prove.obligations.variant_pair import VariantPair

SILENT = (Effect.PURE, Effect.DIVISION, Effect.PIN)


@dataclass(frozen=True)
class Speculated:
    """A load that the variant makes where the original may not come to make it: it owes that the address is good."""

    id: Id
    block: int
    """Where the variant makes it."""


@dataclass(frozen=True)
class Crossing:
    """Two accesses that changed their order: they owe that they never touch the same byte. Or a load and a barrier of its block: it
    owes that no other thread writes what it reads in the interval that it comes to."""

    open: Obligation
    moved: Id
    crossed: Id
    above: int | None = None
    """The block to which the moved one, a load, went up; None where both are of one block."""


@dataclass(eq=False)
class Moves:
    """What the moved instructions of a variant owe."""

    pair: VariantPair

    @cached_property
    def speculated(self) -> list[Speculated]:
        """The loads that stand in another block than in the original."""
        return [Speculated(id, after) for id, before, after in self._elsewhere() if self._effect(id) is Effect.LOAD]

    @cached_property
    def _owed(self) -> list[Obligation | Crossing]:
        return list(self._all())

    def obligations(self) -> Iterator[Obligation]:
        """What does not depend on addresses; for the rest see ``crossings``."""
        yield from (one for one in self._owed if isinstance(one, Obligation))

    def crossings(self) -> Iterator[Crossing]:
        """What the order of accesses to what may be the same memory owes."""
        yield from (one for one in self._owed if isinstance(one, Crossing))

    def _all(self) -> Iterator[Obligation | Crossing]:
        for block, (before, after) in enumerate(zip(self.pair.order_before, self.pair.order_after, strict=True)):
            yield from self._reordered(block, before, after)
        for id, _, block in self._elsewhere():
            yield from self._moved_away(id, block)

    def _effect(self, id: Id) -> Effect:
        return effect_of(self.pair.original.nodes[id].instruction)

    def _elsewhere(self) -> Iterator[tuple[Id, int, int]]:
        """The original instructions that stand in another block: which, from where, where to."""
        nodes = self.pair.original.nodes
        for block, ids in enumerate(self.pair.order_after):
            for id in ids:
                if isinstance(id, int) and nodes[id].block != block:
                    yield id, nodes[id].block, block

    def _reordered(self, block: int, before: list[Id], after: list[Id]) -> Iterator[Obligation | Crossing]:
        """Pairs of one block that changed places."""
        at = {id: number for number, id in enumerate(after)}
        shared = [id for id in before if id in at and self._effect(id) not in (Effect.PURE, Effect.PIN)]
        for number, first in enumerate(shared):
            for second in shared[number + 1 :]:
                if at[second] >= at[first] or self._effect(first) is Effect.DIVISION:
                    continue
                if self._effect(second) is not Effect.DIVISION:
                    yield self._swapped(first, second)
                elif may_not_return(self._instruction(first)) and not divides_safely(self._instruction(second)):
                    yield self._undefined(second, "what it now stands before may have seen to that")

    def _swapped(self, first: Id, second: Id) -> Obligation | Crossing:
        one, other = self._instruction(first), self._instruction(second)
        moved = second if effect_of(other) is Effect.LOAD else first
        return self._answer(moved, second if moved is first else first, why_not_commuting(self.pair, one, other))

    def _answer(
        self, moved: Id, crossed: Id, why_not: Hindrance | None, above: int | None = None
    ) -> Obligation | Crossing:
        what, _ = describe_instruction(self.pair.original, moved)
        past, _ = describe_instruction(self.pair.original, crossed)
        claim = f"{what} may cross {past}"
        place, subject = self.pair.place(moved), str(moved)
        if why_not is None:
            return Obligation(
                claim, "construction", "neither thread can observe the other order", place=place, subject=subject
            )
        guards = tuple(guard_json(guard) for guard in why_not.guards)
        found = Obligation(claim, "tested", why_not.reason, place=place, subject=subject, guards=guards)
        effects = {self._effect(moved), self._effect(crossed)}
        is_question = effects <= {Effect.LOAD, Effect.STORE} or (
            effects == {Effect.LOAD, Effect.BARRIER} and above is None
        )
        return Crossing(found, moved, crossed, above) if is_question and not guards else found

    def _instruction(self, id: Id) -> Instruction:
        return self.pair.original.nodes[id].instruction

    def _moved_away(self, id: Id, block: int) -> Iterator[Obligation | Crossing]:
        effect = self._effect(id)
        if effect in (Effect.PURE, Effect.PIN):
            return
        if effect is Effect.DIVISION:
            if not divides_safely(self._instruction(id)):
                yield self._undefined(id, "its divisor may be 0 there")
            return
        what, _ = describe_instruction(self.pair.original, id)
        place, subject = self.pair.place(id), str(id)
        if effect is not Effect.LOAD or not self._is_above(id, block):
            why = "it is in another block, and no load that went up"
            yield Obligation(f"{what} may stand elsewhere", "tested", why, place=place, subject=subject)
            return
        for crossed in self._crossed(id, block):
            why_not = why_not_commuting(self.pair, self._instruction(id), self._instruction(crossed))
            yield self._answer(id, crossed, why_not, block)

    def _undefined(self, id: Id, why: str) -> Obligation:
        what, _ = describe_instruction(self.pair.original, id)
        claim = f"{what} is defined where it stands"
        return Obligation(claim, "tested", why, place=self.pair.place(id), subject=str(id))

    def _is_above(self, id: Id, block: int) -> bool:
        original = self.pair.original
        return block in original.dominated_by[original.nodes[id].block]

    def _crossed(self, id: Id, above: int) -> list[Id]:
        """What may run between the place of a load that went up and its old one."""
        original, pair = self.pair.original, self.pair
        home = original.nodes[id].block
        blocks = pair.before.blocks
        number = {block: n for n, block in enumerate(blocks)}
        between = between_blocks(pair.before, blocks[above], blocks[home])
        order = pair.order_after[above]
        found: list[Id] = list(order[order.index(id) + 1 :])
        for block in between:
            ids = original.order[number[block]]
            found += ids if block is not blocks[home] else []
        ids = original.order[home]
        comes_again = blocks[home] in between_blocks(pair.before, blocks[home], blocks[home], without=blocks[above])
        found += ids if comes_again else ids[: ids.index(id)]
        return [x for x in found if isinstance(x, int) and x != id and self._effect(x) not in (*SILENT, Effect.LOAD)]


def between_blocks(
    function: Function, above: BasicBlock, below: BasicBlock, without: BasicBlock | None = None
) -> set[BasicBlock]:
    """The blocks that may run after ``above`` and before ``below``, ``below`` itself included, without passing ``above`` (or
    ``without``) again."""
    stop = without if without is not None else above
    forward: set[BasicBlock] = set()
    waiting = list(above.successors)
    while waiting:
        block = waiting.pop()
        if block is not stop and block not in forward:
            forward.add(block)
            waiting += block.successors
    backward: set[BasicBlock] = set()
    before: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in function.blocks}
    for block in function.blocks:
        for successor in block.successors:
            before[successor].append(block)
    waiting = [below]
    while waiting:
        block = waiting.pop()
        if block is not stop and block not in backward:
            backward.add(block)
            waiting += before[block]
    return forward & backward


@dataclass(frozen=True)
class Hindrance:
    """Why something does not hold, and the guards under which it would, if there are any."""

    reason: str
    guards: tuple[Apart, ...] = ()


def why_not_commuting(pair: VariantPair, one: Instruction, other: Instruction) -> Hindrance | None:
    """Why two instructions of the original may not change places; None when they may."""
    effects = {effect_of(one), effect_of(other)}
    if effects <= {Effect.LOAD, *SILENT}:
        return None
    if effects <= {Effect.LOAD, Effect.STORE}:
        return why_overlapping(pair, one, other)
    if effect_of(one) is not Effect.LOAD:
        one, other = other, one
    if effect_of(one) is not Effect.LOAD:
        return Hindrance(f"a '{one.opcode}' and a '{other.opcode}' keep their order")
    if may_write_anywhere(other) or may_not_return(other):
        return Hindrance("what is called there may do anything")
    behind = bases(pointer_of(one))
    if behind is None:
        return Hindrance("it is unknown what the load reads")
    for base in behind:
        needed = read_only(pair.before, base)
        if needed is None:
            return Hindrance("other threads may write what it reads")
        missing = _missing(pair, needed)
        if missing:
            return missing
    return None


def why_overlapping(pair: VariantPair, one: Instruction, other: Instruction) -> Hindrance | None:
    """Why two accesses may be to the same memory, by what their pointers are made from; None when they are not."""
    here, there = bases(pointer_of(one)), bases(pointer_of(other))
    if here is None or there is None:
        return Hindrance("it is unknown where one of the two points")
    for a in here:
        for b in there:
            apart = needed_apart(a, b)
            if apart is False:
                return Hindrance("both may be to the same memory")
            if apart is not True:
                either = {x.index for x in (a, b) if hasattr(x, "index") and x in pair.before.arguments}
                if not any(Apart(index) in pair.applied.guards for index in either):
                    return Hindrance(f"both may be to the same memory, unless {Apart(apart)}", (Apart(apart),))
    return None


def _missing(pair: VariantPair, needed: frozenset[int]) -> Hindrance | None:
    missing = tuple(Apart(index) for index in sorted(needed) if Apart(index) not in pair.applied.guards)
    return Hindrance(f"other threads may write what it reads, unless {missing[0]}", missing) if missing else None


def divides_safely(division: Instruction) -> bool:
    """Whether it is defined for every dividend."""
    divisor = division.operands[1]
    return isinstance(divisor, ConstantInt) and divisor.value not in (0, -1)


def may_not_return(i: Instruction) -> bool:
    """Whether what follows may never be reached because of it."""
    if i.opcode != "call":
        return i.is_opaque
    name = getattr(i.callee, "name", "")
    known = (
        "llvm.nvvm.barrier",
        "llvm.nvvm.bar.",
        "llvm.nvvm.shfl",
        "llvm.nvvm.vote",
        "llvm.nvvm.membar",
        "llvm.nvvm.fence",
    )
    return not name.startswith(known)
