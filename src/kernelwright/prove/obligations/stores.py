"""A store that is gone: nothing sees what it wrote.

    store x, p; ...; store y, p        overwritten: by this thread, in a straight line, and nothing between reads it
    store x, @tile                     nothing reads @tile, which is shared memory or a stack slot

Overwritten: between the two stands no barrier, fence, atomic operation or unknown call, so another thread that read these bytes then would
race with both stores, and the original has no races. The store that overwrites them is one that the variant keeps, in its place.
Never read: memory that ends with the kernel, of which no load is left, and no address goes where it could not be followed.
"""

from __future__ import annotations

from kernelwright.edits.original import Id
from kernelwright.ir import Function, GlobalVariable, Instruction
from kernelwright.prove.obligations.effects import SHARED, Effect, bases, effect_of, pointer_of
from kernelwright.prove.obligations.order import why_overlapping
from kernelwright.prove.obligations.solver import Found, prove
from kernelwright.prove.obligations.values import Values
from kernelwright.prove.obligations.world import z3

MEMORY = (Effect.LOAD, Effect.STORE, Effect.BARRIER, Effect.SYNC)


def nobody_sees(values: Values, id: Id) -> Found:
    """Whether what a store of the original writes is never seen, so that it may be gone."""
    pair = values.pair
    store = pair.original.nodes[id].instruction
    touched = [effect_of(pair.varied[copy]) for copy in pair.copies]
    touched += [effect_of(pair.original.nodes[i].instruction) for i in pair.applied.draft.moved if isinstance(i, int)]
    if any(effect in MEMORY for effect in touched):
        return Found("unknown", 0.0, why="other accesses are moved or copied, too")
    if _is_never_read(values.pair.after, store):
        return Found("proven", 0.0)
    return _is_overwritten(values, store)


def _is_never_read(variant: Function, store: Instruction) -> bool:
    behind = bases(pointer_of(store))
    if behind is None or not all(_ends_with_the_kernel(base) for base in behind):
        return False
    names = {base.name for base in behind}
    for i in variant.instructions():
        effect = effect_of(i)
        if effect is Effect.SYNC and i.opcode not in ("fence", "freeze"):
            return False
        if effect is Effect.STORE and _may_hand_on(i.operands[0], names):
            return False
        if effect is Effect.LOAD:
            read = bases(pointer_of(i))
            if read is None or names & {base.name for base in read}:
                return False
    return True


def _ends_with_the_kernel(base: object) -> bool:
    """Whether a memory is gone with the kernel. Arrays whose size the launch decides all begin at one place, and are left out."""
    if isinstance(base, GlobalVariable):
        return base.address_space == SHARED and base.initializer is not None
    return isinstance(base, Instruction) and base.opcode == "alloca"


def _may_hand_on(value: object, names: set[str]) -> bool:
    """Whether what is stored may be the address of such a memory."""
    of = getattr(value, "type", None)
    if of is None or of.text in ("float", "double", "half"):
        return False
    found: set[object] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.add(each)
        if getattr(each, "opcode", "") == "load":
            continue
        if getattr(each, "name", None) in names:
            return True
        waiting += list(getattr(each, "operands", ()))
    return False


def _is_overwritten(values: Values, store: Instruction) -> Found:
    pair = values.pair
    block = store.parent
    assert block is not None
    gone = {pair.original.nodes[i].instruction for i in pair.deleted}
    at = block.instructions.index(store)
    seconds = 0.0
    for number, i in enumerate(block.instructions[at + 1 :], at + 1):
        effect = effect_of(i)
        if effect in (Effect.BARRIER, Effect.SYNC) and i.opcode != "freeze":
            break
        if effect is Effect.STORE and i not in gone:
            found = _compared(values, store, i, number, covers=True)
            seconds += found.seconds
            if found.answer == "proven":
                return Found("proven", seconds)
        elif effect is Effect.LOAD and i not in gone and why_overlapping(pair, store, i) is not None:
            found = _compared(values, store, i, number, covers=False)
            seconds += found.seconds
            if found.answer != "proven":
                return Found("unknown", seconds, why="it may be read before it is overwritten")
    return Found("unknown", seconds, why="it may be read later")


def _compared(values: Values, store: Instruction, other: Instruction, index: int, *, covers: bool) -> Found:
    """Whether a later access of the block writes all bytes of a store, or none of them."""
    assert store.parent is not None
    thread = values.thread()
    mine, yours = thread.term(pointer_of(store)), thread.term(pointer_of(other))
    facts = [*thread.at(store.parent, index), mine.ok, yours.ok]
    end = mine.value + values.shape.store_size(store)
    further = yours.value + values.shape.store_size(other)
    z = z3()
    inside, apart = (
        z.And(yours.value <= mine.value, end <= further),
        z.Or(end <= yours.value, further <= mine.value),
    )
    goal = inside if covers else apart
    return prove([*values.world.facts, *thread.side, *facts], goal, values.budget, values.world.inputs())
