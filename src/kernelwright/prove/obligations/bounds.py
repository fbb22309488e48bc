"""Loads that are made where the original may not come to make them: their address has to be good for every thread that gets there.

path, invariants, guards  ⇒  0 <= offset  and  offset + size <= bytes behind the pointer that it was made from
"""

from __future__ import annotations

from kernelwright.edits.original import Id
from kernelwright.ir import Argument, BasicBlock, GlobalVariable, Instruction, Value
from kernelwright.prove.obligations.effects import bases, pointer_of
from kernelwright.prove.obligations.solver import Found, prove
from kernelwright.prove.obligations.values import Values
from kernelwright.prove.obligations.world import z3


def in_bounds(values: Values, load: Instruction, block: BasicBlock, index: int | None) -> Found:
    """Whether a load of original or variant may be made before instruction ``index`` of a block of the original (None: at its end)."""
    z = z3()
    pointer = pointer_of(load)
    behind = bases(_of_original(values, pointer))
    if behind is None or len(behind) != 1:
        return Found("unknown", 0.0, why="nobody knows which memory it reads")
    (base,) = behind
    thread = values.thread()
    address = thread.term(pointer)
    facts = thread.at(block, index)
    size = values.shape.layout.store_size(load.type)
    start = thread.term(base)
    if isinstance(base, Argument) and "byval" not in base.attributes:
        end = start.value + values.world.bytes_behind(base.index).value
    elif isinstance(base, GlobalVariable) and base.initializer is not None:
        end = start.value + values.shape.layout.size(base.value_type)
    else:
        return Found("unknown", 0.0, why="nobody knows how large that memory is")
    goal = z.And(address.value >= start.value, address.value + size <= end)
    return prove([*values.world.facts, *thread.side, *facts], goal, values.budget, values.world.inputs())


def _of_original(values: Values, pointer: Value) -> Value:
    """The original's value of that name; a copy has none."""
    return (
        values.shape.values.get(f"%{pointer.name}", pointer) if isinstance(pointer, Instruction | Argument) else pointer
    )


def place_of(values: Values, id: Id, block: int) -> tuple[BasicBlock, int | None]:
    """Where a load of the variant stands in the original: before the next instruction of the block that the original has there too."""
    pair = values.pair
    order = pair.order_after[block]
    here = pair.before.blocks[block]
    for after in order[order.index(id) + 1 :]:
        if isinstance(after, int) and pair.original.nodes[after].block == block:
            return here, here.instructions.index(pair.original.nodes[after].instruction)
    return here, None
