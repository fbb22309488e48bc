"""What a thread's loads find where the kernel writes, as far as the thread's own stores decide it.

    store x, p; y = load p            y is x
    y = load p; store x, q; z = load p    z is y if p and q are apart

Between two points of a straight way without a barrier, a fence, an atomic operation or an unknown call no other thread writes what
this thread reads: that would be a race, which the original has not. So memory has a state, a function of the address, that the
thread's stores change at their bytes and leave alone elsewhere. Behind whatever orders threads, and where ways meet, the state is any.

A straight way goes on from a block to its only predecessor: where both dominate a place, their last runs there belong together.
"""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from kernelwright.guards import Apart
from kernelwright.ir import Argument, BasicBlock, Instruction, Value
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.effects import Effect, bases, effect_of, needed_apart, pointer_of
from kernelwright.prove.obligations.world import Expr, Term, World, z3

MOST_STORES = 12
"""That are followed back; before them memory is in any state."""


class Terms(Protocol):
    """What it takes of a thread."""

    world: World
    side: list[Expr]

    def term(self, value: Value) -> Term:
        """What the thread knows of a value."""


class Ways(Protocol):
    """What it takes of a function's shape."""

    before: dict[BasicBlock, list[BasicBlock]]

    def store_size(self, access: Instruction) -> int:
        """Bytes that a load or store touches."""


@dataclass(eq=False)
class MemoryStates:
    thread: Terms
    ways: Ways
    _states: dict[tuple[object, str], tuple[Expr, Expr]] = field(default_factory=dict)

    def loaded(self, load: Instruction) -> tuple[Expr, Expr]:
        """What a load of the original finds, as a number or whatever its type has, and whether that is not poison."""
        start, stores = self._back(load)
        z = z3()
        address, size = self.thread.term(pointer_of(load)).value, self.ways.store_size(load)
        value, ok = (state(address) for state in self._state(start, load))
        for store in reversed(stores):
            at, put = self.thread.term(pointer_of(store)).value, self.thread.term(store.operands[0])
            found, found_ok = (state(address) for state in self._state(store, load))
            apart = z.Or(address + size <= at, at + self.ways.store_size(store) <= address)
            self.thread.side.append(z.Implies(apart, z.And(found == value, found_ok == ok)))
            if store.operands[0].type.text == load.type.text:
                self.thread.side.append(z.Implies(z.And(address == at, put.ok), found == put.value))
                self.thread.side.append(z.Implies(address == at, found_ok == put.ok))
            value, ok = found, found_ok
        return value, ok

    def _state(self, behind: object, load: Instruction) -> tuple[Expr, Expr]:
        """Memory behind a store, a barrier or the like, or where a block begins, for loads of one type: what is there, and whether that
        is not poison, which a kernel may well have stored."""
        z = z3()
        key = (behind, load.type.text)
        if key not in self._states:
            name = str(self.thread.world.fresh("state", z.IntSort()))
            made = z.Function(name, z.IntSort(), self.thread.world.sort(load.type))
            self._states[key] = made, z.Function(f"ok {name}", z.IntSort(), z.BoolSort())
        return self._states[key]

    def _back(self, load: Instruction) -> tuple[object, list[Instruction]]:
        """What a load's memory was last in any state behind, and the stores since that may have changed it, the last one first."""
        stores: list[Instruction] = []
        at = load.parent
        assert at is not None
        waiting = at.instructions[: at.instructions.index(load)]
        while True:
            for i in reversed(waiting):
                effect = effect_of(i)
                if effect is Effect.STORE and self._may_change(i, load):
                    if len(stores) == MOST_STORES:
                        return i, stores
                    stores.append(i)
                elif effect is Effect.BARRIER or (effect is Effect.SYNC and i.opcode != "freeze"):
                    return i, stores
            before = self.ways.before[at]
            if len(before) != 1:
                return at, stores
            at = before[0]
            waiting = at.instructions

    def _may_change(self, store: Instruction, load: Instruction) -> bool:
        """Whether a store may be to what a load reads, by what their pointers are made from."""
        mine, yours = bases(pointer_of(store)), bases(pointer_of(load))
        if mine is None or yours is None:
            return True
        guarded = {guard.index for guard in self.thread.world.guards if isinstance(guard, Apart)}
        for a in mine:
            for b in yours:
                apart = needed_apart(a, b)
                either = {x.index for x in (a, b) if isinstance(x, Argument)}
                if apart is False or (apart is not True and not either & guarded):
                    return True
        return False
