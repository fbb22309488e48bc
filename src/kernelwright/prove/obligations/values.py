"""Values that have to be the same: an operand that is another one, at the place where it is used.

path, definitions, invariants, guards  ⇒  the new value is not poison and equals the old one, unless that is poison itself
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from weakref import WeakKeyDictionary

from kernelwright.edits.original import Id, Original
from kernelwright.guards import Apart, Guard
from kernelwright.ir import BasicBlock, Instruction, Value
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.effects import Effect, effect_of
from kernelwright.prove.obligations.loops import LOOPS_UNITS, invariants
from kernelwright.prove.obligations.obligation import Method
from kernelwright.prove.obligations.solver import Budget, Found, prove
from kernelwright.prove.obligations.thread import Invariant, Shape, Thread
from kernelwright.prove.obligations.variant_pair import VariantPair
from kernelwright.prove.obligations.world import World, z3

Kept = tuple[dict[BasicBlock, list[Invariant]], Budget]
_KEPT: WeakKeyDictionary[Original, dict[tuple[Guard, ...], Kept]] = WeakKeyDictionary()
"""Invariants by the original and the guards they hold under, for its other variants; with what they took, which each variant is charged:
its label must not depend on what was proven before."""

Place = tuple[BasicBlock, int | None]
"""Before which instruction of a block; None for its end."""

METHOD: dict[str, Method] = {"proven": "solver", "refuted": "refuted", "unknown": "tested"}


_SHAPES: WeakKeyDictionary[Original, dict[frozenset[Guard], Shape]] = WeakKeyDictionary()


def shape_of(pair: VariantPair, guards: Sequence[Guard]) -> Shape:
    """The original's shape; kept, for of the guards only those count that say a pointer shares no memory."""
    apart = frozenset(guard for guard in guards if isinstance(guard, Apart))
    kept = _SHAPES.setdefault(pair.original, {})
    if apart not in kept:
        kept[apart] = Shape(pair.before, tuple(apart))
    return kept[apart]


@dataclass(eq=False)
class Values:
    """Answers questions about the original's runs under the variant's guards."""

    pair: VariantPair
    budget: Budget
    more: tuple[Guard, ...] = ()
    """Guards that the variant does not have."""
    own_invariants: bool = True
    """Whether invariants of loops are sought under ``more``, too; else those serve that hold without."""
    is_reached: bool = False
    """Whether the places that are asked about are known to be reached: they were, under guards that admit less."""
    reached: dict[Instruction, bool] = field(default_factory=dict)
    """Whether the facts of a place can hold, as far as it was asked."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards of the variant, then those of ``more``."""
        return (*self.pair.applied.guards, *self.more)

    @cached_property
    def shape(self) -> Shape:
        """Blocks, edges and loops of the original under these guards."""
        return shape_of(self.pair, self.guards)

    @cached_property
    def world(self) -> World:
        """The symbols of a launch that meets these guards."""
        return World(self.pair.before, self.guards)

    @cached_property
    def invariants(self) -> dict[BasicBlock, list[Invariant]]:
        """By loop head, what holds in each turn. Sought once for equal guards; what that took is charged to each budget."""
        kept = _KEPT.setdefault(self.pair.original, {})
        guards = self.guards if self.own_invariants else self.pair.applied.guards
        if guards not in kept:
            own = Budget(LOOPS_UNITS)
            kept[guards] = invariants(World(self.pair.before, guards), shape_of(self.pair, guards), own), own
        found, took = kept[guards]
        self.budget.charge(took)
        return found

    def thread(self, name: str = "", block: str = "", *, follows_memory: bool = False) -> Thread:
        """A thread of the original; those with equal ``block`` names are of one block."""
        return Thread(self.world, self.shape, name, block, invariants=self.invariants, follows_memory=follows_memory)

    def same_operand(self, id: Id, index: int, place: Place | None = None) -> Found:
        """Whether an operand of an instruction is in the variant what it was. ``place``: where the instruction stands, if that is
        another block: it is used there too, and what holds on the way to its old block need not hold there."""
        before, after = self.pair.original.nodes[id].instruction, self.pair.varied[id]
        old, new = before.operands[index], after.operands[index]
        if before.is_phi:
            home = before.blocks[index]
            return self.same(old, new, home, None, before.parent)
        assert before.parent is not None
        block, at = place or (before.parent, before.parent.instructions.index(before))
        found = self.same(old, new, block, at, None)
        if found.answer != "proven" and before.has_result and effect_of(before) is Effect.PURE:
            whole = self.same(before, after, block, at, None, ghost=True)
            # What makes the result another one tells more than what makes the operand another one.
            return replace(found, open=whole.open) if whole.answer == "unknown" else whole
        return found

    def same(
        self,
        old: Value,
        new: Value,
        block: BasicBlock,
        index: int | None,
        towards: BasicBlock | None,
        *,
        ghost: bool = False,
    ) -> Found:
        """Whether two values are the same before instruction ``index`` of a block (None: at its end, on the way to ``towards``)."""
        found = self._same(old, new, block, index, towards, ghost=ghost, follows_memory=False)
        if found.answer != "refuted" or not self._writes:
            return found
        return self._same(old, new, block, index, towards, ghost=ghost, follows_memory=True)

    @cached_property
    def _writes(self) -> bool:
        return any(effect_of(i) is Effect.STORE for i in self.pair.before.instructions())

    def _same(
        self,
        old: Value,
        new: Value,
        block: BasicBlock,
        index: int | None,
        towards: BasicBlock | None,
        *,
        ghost: bool,
        follows_memory: bool,
    ) -> Found:
        z = z3()
        thread = self.thread(follows_memory=follows_memory)
        was = thread.term(old)
        if ghost:
            assert isinstance(new, Instruction)
            now = thread.computed(new)
        else:
            now = thread.term(new)
        facts = [thread.condition(block, towards)] if towards is not None else []
        facts += thread.at(block, index)
        goal = z.Implies(was.ok, z.And(now.ok, now.value == was.value))
        return prove(
            [*self.world.facts, *thread.side, *facts],
            goal,
            self.budget,
            self.world.inputs(),
            reached=not self.is_reached,
        )
