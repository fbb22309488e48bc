"""Invariants of loops, guessed and sieved: whatever does not hold at the first turn, or is not kept by a turn, is dropped until all the
rest keeps itself (Houdini; Flanagan and Leino, "Houdini, an Annotation Assistant for ESC/Java", FME 2001). All loops are sieved together.

Guessed of a phi: not poison, not negative, on its side of where it began, at its step times the number of turns, on its side of what it is
compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernelwright.ir import BasicBlock, ConstantInt, Instruction, Value
from kernelwright.ir.types import IntType
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.solver import UNITS_PER_S, Budget, check
from kernelwright.prove.obligations.thread import Invariant, Shape, Thread
from kernelwright.prove.obligations.world import Expr, Term, World, z3

LOOPS_UNITS = 6 * UNITS_PER_S
"""What all the loops of a function may take."""
MOST = 400
"""Guesses for one function; more loops than that have none."""


@dataclass(frozen=True, eq=False)
class Guess:
    head: BasicBlock
    holds: Invariant


def invariants(world: World, shape: Shape, budget: Budget) -> dict[BasicBlock, list[Invariant]]:
    """What holds at the head of each loop whenever it is reached, in every launch that ``world`` admits. Nothing where the budget is
    spent."""
    kept = [guess for head in shape.latches for guess in _guesses(shape, head)]
    if len(kept) > MOST:
        return {}
    while True:
        fell = _sieve(world, shape, kept, budget)
        if fell is None:
            return {}
        if not fell:
            return _by_head(kept)
        kept = [guess for guess in kept if guess not in fell]


def _by_head(guesses: list[Guess]) -> dict[BasicBlock, list[Invariant]]:
    found: dict[BasicBlock, list[Invariant]] = {}
    for guess in guesses:
        found.setdefault(guess.head, []).append(guess.holds)
    return found


def _sieve(world: World, shape: Shape, guesses: list[Guess], budget: Budget) -> set[Guess] | None:
    """The guesses that do not follow from all of them; None where the budget is spent."""
    fell: set[Guess] = set()
    assumed = _by_head(guesses)
    for head in shape.latches:
        mine = [guess for guess in guesses if guess.head is head]
        for before in shape.before[head]:
            left = [guess for guess in mine if guess not in fell]
            while left:
                if budget.spent:
                    return None
                thread = Thread(world, shape, invariants=assumed)
                index = head_index(head, before)
                closes = before in shape.latches[head]
                turns = thread.turns_of(head) + 1 if closes else z3().IntVal(0)
                goals = [guess.holds(thread, _entering(thread, head, index), turns) for guess in left]
                condition = thread.condition(before, head)
                facts = [*thread.at(before), condition]
                broken = check([*world.facts, *thread.side, *facts], goals, budget)
                if not broken:
                    break
                fell |= {left[number] for number in broken}
                left = [guess for guess in left if guess not in fell]
    return fell


def head_index(head: BasicBlock, before: BasicBlock) -> int:
    """Which operand of the head's phis comes from there; 0 where it has none."""
    return next((phi.blocks.index(before) for phi in head.phis), 0)


def _entering(thread: Thread, head: BasicBlock, index: int) -> Callable[[Value], Term]:
    """The values that the head's phis are about to get."""

    def term(value: Value) -> Term:
        if isinstance(value, Instruction) and value.is_phi and value.parent is head:
            before = head.phis[0].blocks[index]
            return thread.term(value.incoming_value(before))
        return thread.term(value)

    return term


def _guesses(shape: Shape, head: BasicBlock) -> Iterator[Guess]:
    for phi in head.phis:
        yield Guess(head, lambda _, term, turns, phi=phi: term(phi).ok)  # type: ignore[misc]
        if not isinstance(phi.type, IntType) or phi.type.bits == 1:
            continue
        yield Guess(head, lambda _, term, turns, phi=phi: term(phi).value >= 0)  # type: ignore[misc]
        entries = [v for v, block in phi.incoming if block not in shape.latches[head]]
        nexts = [v for v, block in phi.incoming if block in shape.latches[head]]
        if len(entries) == 1:
            first = entries[0]
            for relation in _RELATIONS:
                yield _compared(head, phi, first, relation)
            for step in {_step(shape, head, phi, each) for each in nexts} if len(nexts) == 1 else ():
                if step is not None:
                    yield _strided(head, phi, first, step)
        for bound in _compared_with(shape, head, {phi, *nexts}):
            for relation in (*_RELATIONS, lambda x, y: x < y, lambda x, y: x > y):
                yield _compared(head, phi, bound, relation)


_RELATIONS: tuple[Callable[[Expr, Expr], Expr], ...] = (lambda x, y: x <= y, lambda x, y: x >= y)


def _compared(head: BasicBlock, phi: Instruction, other: Value, relation: Callable[[Expr, Expr], Expr]) -> Guess:
    def holds(thread: Thread, term: Callable[[Value], Term], turns: Expr) -> Expr:
        return relation(term(phi).value, thread.term(other).value)

    return Guess(head, holds)


def _strided(head: BasicBlock, phi: Instruction, first: Value, step: tuple[Value, int]) -> Guess:
    def holds(thread: Thread, term: Callable[[Value], Term], turns: Expr) -> Expr:
        by, sign = step
        return term(phi).value == thread.term(first).value + sign * thread.term(by).value * turns

    return Guess(head, holds)


def _step(shape: Shape, head: BasicBlock, phi: Instruction, after: Value) -> tuple[Value, int] | None:
    """What is added to a phi in each turn."""
    if not isinstance(after, Instruction) or after.opcode not in ("add", "sub") or phi not in after.operands:
        return None
    by = after.operands[1] if after.operands[0] is phi else after.operands[0]
    if by is phi or not is_outside(shape, head, by) or (after.opcode == "sub" and after.operands[0] is not phi):
        return None
    return by, -1 if after.opcode == "sub" else 1


def is_outside(shape: Shape, head: BasicBlock, value: Value) -> bool:
    """Whether a value is the same in all turns of a loop."""
    if not isinstance(value, Instruction):
        return True
    block = value.parent
    return block is not None and block is not head and shape.dominators.dominates(block, head)


def _compared_with(shape: Shape, head: BasicBlock, values: set[Value]) -> list[Value]:
    found: dict[Value, None] = {}
    for value in values:
        for user in value.users:
            if isinstance(user, Instruction) and user.opcode == "icmp":
                for other in user.operands:
                    if other not in values and is_outside(shape, head, other) and not _is_zero(other):
                        found[other] = None
    return list(found)[:4]


def _is_zero(value: Value) -> bool:
    return isinstance(value, ConstantInt) and value.value == 0
