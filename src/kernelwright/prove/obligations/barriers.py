"""A barrier that is gone: no two threads of a block may meet in what is one interval now.

For each deleted barrier, the accesses that may be made since the barrier before it, and those that may be made until the next one, on any
way, also around loops. One of each by two different threads of a block, one of them a write: they never touch the same byte, under the
facts of both places. With a race-free original each interval then gives what it gave (two-thread reduction; GPUVerify, OOPSLA 2012).
Whatever the threads load of memory that others write may be anything.

A barrier that is one of each warp now still stands between the threads of a warp: the same is asked of two threads of different
warps. For all others, and for what is moved, it counts as gone. Of a pair that only threads below 32 of a block of one row come to
nothing need be asked: they are of one warp.

Accesses that are moved besides owe that they cross no barrier that is kept, unless nothing writes what they read (``order``) in the
interval that they come to (``may_cross``): so an interval has the stores that it had, and where no two threads meet in it their order
decides nothing. A load that is made early or copied may meet
a write; then its value is not used, or it owes that it is the original's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kernelwright.edits.kinds.narrow_barrier import ONE_ROW, blocks_of_few
from kernelwright.edits.kinds.warp_barriers import BLOCK_BARRIERS
from kernelwright.edits.line_templates import OF_WARP, WARP_BARRIER
from kernelwright.edits.original import Id
from kernelwright.guards import WARP, Apart, BlockIsWarp
from kernelwright.ir import Argument, BasicBlock, Function, Instruction
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.crossings import type_of
from kernelwright.prove.obligations.effects import Effect, bases, effect_of, is_private, needed_apart, pointer_of
from kernelwright.prove.obligations.solver import Found, possible, prove
from kernelwright.prove.obligations.thread import Thread
from kernelwright.prove.obligations.values import Values
from kernelwright.prove.obligations.variant_pair import VariantPair
from kernelwright.prove.obligations.world import Expr, z3

MOST_PAIRS = 2000


@dataclass(frozen=True, eq=False)
class Interval:
    """What may run from a barrier on, until the next one that is kept."""

    start: BasicBlock
    accesses: frozenset[Instruction]
    finished: frozenset[BasicBlock]
    """Blocks whose end it reaches."""

    def facts(self, values: Values, thread: Thread, block: BasicBlock) -> list[Expr]:
        """What is known of a thread that came to a block in it: a block that does not lead to the start was entered since, and
        not by a way that the interval does not have."""
        z, shape = z3(), values.shape
        found: list[Expr] = []
        at: BasicBlock | None = block
        while at is not None:
            if not shape.dominators.dominates(at, self.start):
                before = shape.before[at]
                if at in shape.latches and not any(latch in self.finished for latch in shape.latches[at]):
                    found.append(thread.turns_of(at) == 0)
                if at not in shape.latches and len(before) > 1:
                    found += [z.Not(thread.edge(each, at)) for each in before if each not in self.finished]
            at = shape.dominators.immediate(at)
        return found


def separates_nothing(values: Values, id: Id) -> Found:
    """Whether a barrier of the original may go, together with the others that are gone; or be one of each warp, where it is that."""
    pair = values.pair
    barrier = pair.original.nodes[id].instruction
    why_not = _why_no_intervals(values)
    if why_not:
        return Found("unknown", 0.0, why=why_not)
    kept = _kept(values)
    if not is_of_block(barrier) and not _is_of_warp(barrier):
        return Found("unknown", 0.0, why="it is no barrier of a block or a warp")
    before, after = dict.fromkeys(_before(values, barrier, kept)), _after(barrier, kept)
    pairs = [(a, b) for a in before for b in _in_order(after.accesses) if "store" in (a.opcode, b.opcode)]
    return _all_apart(values, pairs, after, of_different_warps=is_narrowed(pair, id))


def is_narrowed(pair: VariantPair, id: Id) -> bool:
    """Whether a barrier of the block is one of each warp, where blocks may have several."""
    return OF_WARP in pair.applied.draft.extras.get(id, ()) and BlockIsWarp() not in pair.applied.guards


def may_cross(values: Values, load: Id, id: Id) -> Found:
    """Whether a load of the same block may stand on the other side of a barrier that is kept, the only one that it crosses.

    Up: no other thread writes what it reads in the interval that ends with the barrier, where it comes to. Then it finds there what it
    found: the thread's own stores between its two places are asked apart, and any other thread that wrote these bytes did it in an earlier
    interval. Down: the same of the interval that begins with the barrier. Intervals are those of the variant, without the barriers that
    are gone; stores stay in theirs, or the variant is not proven.
    """
    barrier, access = (values.pair.original.nodes[each].instruction for each in (id, load))
    why_not = _why_no_intervals(values)
    if why_not or not is_of_block(barrier) or access.parent is not barrier.parent or access.parent is None:
        return Found("unknown", 0.0, why=why_not or "it is no barrier of its block")
    kept = _kept(values)
    before, after = dict.fromkeys(_before(values, barrier, kept)), _after(barrier, kept)
    instructions = access.parent.instructions
    goes_up = instructions.index(access) > instructions.index(barrier)
    if access not in (after.accesses if goes_up else before):
        return Found("unknown", 0.0, why="another barrier stands between")
    if goes_up:
        pairs = [(a, access) for a in before if a.opcode == "store"]
    else:
        pairs = [(access, b) for b in _in_order(after.accesses) if b.opcode == "store"]
    return _all_apart(values, pairs, after)


def _why_no_intervals(values: Values) -> str:
    """Why barriers do not say which accesses of two threads may meet; empty when they do."""
    pair = values.pair
    talks = next((i for i in pair.before.instructions() if effect_of(i) is Effect.SYNC and i.opcode != "freeze"), None)
    if talks is not None:
        return f"the kernel has a '{talks.opcode}', with which threads may wait for each other"
    if any(effect_of(pair.varied[i]) in WRITING for i in pair.copies):
        return "a store or barrier is copied, too"
    return ""


def _kept(values: Values) -> set[Instruction]:
    """The barriers of the block that the variant keeps as such."""
    pair = values.pair
    gone = {pair.original.nodes[i].instruction for i in pair.deleted}
    gone |= {node.instruction for i, node in pair.original.nodes.items() if is_narrowed(pair, i)}
    return {i for i in pair.before.instructions() if is_of_block(i) and i not in gone}


def _in_order(accesses: frozenset[Instruction]) -> list[Instruction]:
    return sorted(accesses, key=lambda i: str(i.name))


def _all_apart(
    values: Values, pairs: list[tuple[Instruction, Instruction]], after: Interval, *, of_different_warps: bool = False
) -> Found:
    """Whether two threads, of any warps or of different ones, never meet in any of these pairs."""
    pairs = [(a, b) for a, b in pairs if _may_meet(values, a, b)]
    if of_different_warps and set(ONE_ROW) <= set(values.guards):
        few = {values.pair.before.blocks[number] for number in blocks_of_few(values.pair.original)}
        pairs = [(a, b) for a, b in pairs if a.parent not in few or b.parent not in few]
    if len(pairs) > MOST_PAIRS:
        return Found("unknown", 0.0, why="too many accesses meet")
    seconds = 0.0
    for one, other in pairs:
        found = _apart(values, one, other, after, of_different_warps)
        seconds += found.seconds
        if found.answer != "proven":
            return replace(found, seconds=seconds, why=found.why or "two threads may meet")
    return Found("proven", seconds)


def is_of_block(i: Instruction) -> bool:
    """Whether all threads of the block wait there for each other: barriers of a warp, a cluster or some threads only do not
    separate what others access."""
    callee = i.callee if i.opcode == "call" else None
    return isinstance(callee, Function) and callee.name in BLOCK_BARRIERS


def _is_of_warp(i: Instruction) -> bool:
    callee = i.callee if i.opcode == "call" else None
    return isinstance(callee, Function) and callee.name == WARP_BARRIER


WRITING = (Effect.STORE, Effect.BARRIER, Effect.SYNC)


def _before(values: Values, barrier: Instruction, kept: set[Instruction]) -> Iterator[Instruction]:
    """What may be accessed between the last barrier that is kept, or the beginning, and this one."""
    assert barrier.parent is not None
    seen: set[BasicBlock] = set()
    waiting: list[tuple[BasicBlock, int]] = [(barrier.parent, barrier.parent.instructions.index(barrier))]
    while waiting:
        block, end = waiting.pop()
        for i in reversed(block.instructions[:end]):
            if i in kept:
                break
            if effect_of(i) in (Effect.LOAD, Effect.STORE):
                yield i
        else:
            for other in values.shape.before[block]:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, len(other.instructions)))


def _after(barrier: Instruction, kept: set[Instruction]) -> Interval:
    """What may be accessed between this barrier and the next one that is kept, or the end."""
    assert barrier.parent is not None
    accesses: set[Instruction] = set()
    finished: set[BasicBlock] = set()
    seen: set[BasicBlock] = set()
    waiting: list[tuple[BasicBlock, int]] = [(barrier.parent, barrier.parent.instructions.index(barrier) + 1)]
    while waiting:
        block, start = waiting.pop()
        for i in block.instructions[start:]:
            if i in kept:
                break
            if effect_of(i) in (Effect.LOAD, Effect.STORE):
                accesses.add(i)
        else:
            finished.add(block)
            for other in block.successors:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, 0))
    return Interval(barrier.parent, frozenset(accesses), frozenset(finished))


def _may_meet(values: Values, one: Instruction, other: Instruction) -> bool:
    """Whether two accesses may be to the same memory, by what their pointers are made from."""
    mine, yours = bases(pointer_of(one)), bases(pointer_of(other))
    if mine is None or yours is None:
        return True
    guarded = {guard.index for guard in values.guards if isinstance(guard, Apart)}
    for a in mine:
        for b in yours:
            apart = False if is_private(a) or is_private(b) else needed_apart(a, b)
            if is_private(a) or is_private(b) or apart is True:
                continue
            either = {x.index for x in (a, b) if isinstance(x, Argument)}
            if apart is False or not either & guarded:
                return True
    return False


def _apart(values: Values, one: Instruction, other: Instruction, interval: Interval, of_different_warps: bool) -> Found:
    """Whether an access by one thread and another by a second thread of its block never touch the same byte."""
    here, there = pointer_of(one), pointer_of(other)
    if bases(here) is None or bases(there) is None:
        return Found("unknown", 0.0, why="it is unknown where an access goes")
    z = z3()
    first, second = values.thread("1 ", "both "), values.thread("2 ", "both ")
    shape = values.shape
    facts: list[Expr] = []
    addresses = []
    for thread, access, pointer in ((first, one, here), (second, other, there)):
        addresses.append(thread.term(pointer))
        assert access.parent is not None
        if thread is second:
            facts += interval.facts(values, thread, access.parent)
        facts += thread.at(access.parent, access.parent.instructions.index(access))
    facts += [addresses[0].ok, addresses[1].ok]
    mine, yours = ([thread.register("tid", n).value for n in range(3)] for thread in (first, second))
    different = z.Or(*(a != b for a, b in zip(mine, yours, strict=True)))
    if of_different_warps:
        # Of threads of the first row the number decides; of others nothing is asked, so that any two may be of different warps.
        different = z.And(
            different, z.Or(mine[0] / WARP != yours[0] / WARP, *(n != 0 for n in (*mine[1:], *yours[1:])))
        )
    sizes = [shape.layout.store_size(type_of(each)) for each in (one, other)]
    a, b = addresses[0].value, addresses[1].value
    goal = z.Or(a + sizes[0] <= b, b + sizes[1] <= a)
    known = [*values.world.facts, *first.side, *second.side, *facts, different]
    if not _is_reached(values, one) or not _is_reached(values, other):
        return Found("unknown", 0.0, why="nothing shows that it is ever reached")
    return prove(known, goal, values.budget, values.world.inputs(), reached=False)


def _is_reached(values: Values, key: Instruction) -> bool:
    """Whether the facts of a place can hold at all: two threads may well never be at two places at once."""
    if key not in values.reached:
        thread = values.thread()
        thread.term(pointer_of(key))
        assert key.parent is not None
        facts = thread.at(key.parent, key.parent.instructions.index(key))
        values.reached[key] = possible([*values.world.facts, *thread.side, *facts], values.budget)
    return values.reached[key]
