"""Accesses to what may be the same memory that changed their order: they never touch the same byte.

    a[i] = x; y = a[i + 1]        the load may be made first
    a[i] = x; y = a[j]            it may not, unless i != j whenever both are made

Asked of one thread: other threads see the order only through a race, which the original has not, or through a barrier, a fence or an
atomic operation between the two, and what crosses those is asked apart (``order``).

Of one block: both are made in the same turn, in a straight line, so the values of one place are those of both. Of a load that went up
to a block above: between that block's run and the load's old place the accesses that it crosses are made, any number of times. All of
them are below the block (it is above the load, and they lie between), so what was known there stays as it was: the load's address has to
be made of that alone. The facts are those of the crossed access's place, whenever it is reached.
"""

from __future__ import annotations

from kernelwright.ir import BasicBlock, Instruction, Type, Value
from kernelwright.prove.obligations.effects import Effect, effect_of, pointer_of
from kernelwright.prove.obligations.order import Crossing
from kernelwright.prove.obligations.solver import Found, prove
from kernelwright.prove.obligations.thread import Shape
from kernelwright.prove.obligations.values import Values
from kernelwright.prove.obligations.world import z3


def never_meet(values: Values, crossing: Crossing) -> Found:
    """Whether two accesses that changed their order never touch the same byte."""
    nodes = values.pair.original.nodes
    moved, crossed = nodes[crossing.moved].instruction, nodes[crossing.crossed].instruction
    place = crossed
    if crossing.above is None:
        assert moved.parent is not None
        place = max(moved, crossed, key=moved.parent.instructions.index)
    elif not is_known_in(values.shape, pointer_of(moved), values.pair.before.blocks[crossing.above]):
        return Found("unknown", 0.0, why="its address is made of what changes on the way")
    z = z3()
    thread = values.thread()
    one, other = thread.term(pointer_of(moved)), thread.term(pointer_of(crossed))
    assert place.parent is not None
    facts = [*thread.at(place.parent, place.parent.instructions.index(place)), one.ok, other.ok]
    size, further = (values.shape.layout.store_size(type_of(each)) for each in (moved, crossed))
    goal = z.Or(one.value + size <= other.value, other.value + further <= one.value)
    return prove([*values.world.facts, *thread.side, *facts], goal, values.budget, values.world.inputs())


def is_known_in(shape: Shape, value: Value, block: BasicBlock) -> bool:
    """Whether a value is made of nothing but what is there when a block ends, in the same turn of every loop."""
    if not isinstance(value, Instruction):
        return True
    assert value.parent is not None
    if shape.dominators.dominates(value.parent, block):
        return True
    if value.is_phi:
        return False
    effect = effect_of(value)
    is_load = effect is Effect.LOAD and shape.is_constant_memory(pointer_of(value))
    if not is_load and effect not in (Effect.PURE, Effect.DIVISION):
        return False
    return all(is_known_in(shape, operand, block) for operand in value.operands)


def type_of(access: Instruction) -> Type:
    """Of what a load or store reads or writes."""
    return access.type if access.opcode == "load" else access.operands[0].type
