"""Loads that are made where the original may not come to make them: their address has to be good for every thread that gets there.

path, invariants, guards  ⇒  start - in front <= address  and  address + size <= start + bytes behind, for the pointer that it was made from
path, invariants, guards  ⇒  nothing that the address is made of is poison

path, guards              ⇒  the address is a multiple of what the load asks for

Where an access was made before on every way, it was in bounds, and so is what lies between two of them; and it was aligned. That memory
is aligned for the numbers of the least demanding access that the kernel makes to it is presupposed, unless the kernel looks at its address.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.instruction_words import describe_argument
from kernelwright.edits.original import Id, Original
from kernelwright.guards import AtStart
from kernelwright.ir import (
    Argument,
    BasicBlock,
    ConstantExpr,
    ConstantInt,
    GlobalVariable,
    Instruction,
    StructType,
    Type,
    Value,
    VectorType,
)
from kernelwright.prove.obligations.crossings import type_of
from kernelwright.prove.obligations.effects import Base, Effect, bases, effect_of, is_byval, pointer_of
from kernelwright.prove.obligations.solver import Found, prove
from kernelwright.prove.obligations.thread import Shape, Thread
from kernelwright.prove.obligations.values import Values
from kernelwright.prove.obligations.world import Expr, z3


def in_bounds(values: Values, load: Instruction, block: BasicBlock, index: int | None) -> Found:
    """Whether a load of original or variant may be made before instruction ``index`` of a block of the original (None: at its end)."""
    z = z3()
    pointer = _of_original(values, pointer_of(load))
    base = _memory(pointer)
    thread = values.thread()
    address = thread.term(pointer)
    limits = _limits(thread, base) if base is not None else None
    if limits is None:
        return Found("unknown", 0.0, why="it is unknown which memory it reads, or how large that is")
    first, end = limits
    goal = [address.value >= first, address.value + values.shape.layout.store_size(load.type) <= end]
    for each in _made_on_the_way(values, pointer):
        value = thread.term(each).value
        goal += [value >= first, value <= end]
        if "nuw" in each.flags:
            goal.append(value >= thread.term(each.operands[0]).value)
    # What is asked of those on the way is not asked again; of others nothing shows that they are in bounds.
    asked = [thread.inbounds[each] for each in _made_on_the_way(values, pointer) if each in thread.inbounds]
    goal.append(z.substitute(address.ok, *((symbol, z.BoolVal(True)) for symbol in asked)))
    before = list(_made_before(values, thread, block, index))
    assert base is not None
    if not _is_aligned(values, pointer, base, alignment_of(values.shape, load)):
        goal.append(address.value % alignment_of(values.shape, load) == 0)
        before += _known_alignment(values, thread, base)
    facts = [*thread.at(block, index), *before]
    given = [*values.world.facts, *thread.side, *facts]
    return prove(given, z.And(*goal), values.budget, values.world.inputs(), reached=not values.is_reached)


def _memory(pointer: Value) -> Base | None:
    behind = bases(pointer)
    return next(iter(behind)) if behind is not None and len(behind) == 1 else None


def memory_in_words(original: Original, load: Instruction) -> str:
    """Which memory a load has to stay in."""
    base = _memory(pointer_of(load))
    if isinstance(base, Argument):
        name = describe_argument(original, base.index)
        return f"the structure '{name}'" if is_byval(base) else f"the memory behind '{name}'"
    return f"variable {base.name}" if isinstance(base, GlobalVariable) else "the memory that its address is made from"


def _limits(thread: Thread, base: Base) -> tuple[Expr, Expr] | None:
    """The first address of the memory behind a pointer and the one behind its last; None where that is not known."""
    start = thread.term(base).value
    if isinstance(base, Argument) and not is_byval(base):
        world = thread.world
        return start - world.bytes_in_front(base.index).value, start + world.bytes_behind(base.index).value
    if isinstance(base, GlobalVariable) and base.initializer is not None:
        return start, start + thread.shape.layout.size(base.value_type)
    return None


def alignment_of(shape: Shape, access: Instruction) -> int:
    """What its address is a multiple of, in bytes."""
    return access.align or shape.layout.alignment(type_of(access))


def _is_aligned(values: Values, pointer: Value, base: Base, wanted: int) -> bool:
    """Whether an address is so many bytes times a number from where its memory is presupposed to be aligned, by how it is computed."""
    at = pointer
    while isinstance(at, Instruction) and at.opcode in ("getelementptr", "addrspacecast"):
        if at.opcode == "getelementptr" and not _in_steps_of(values.shape, at, wanted):
            return False
        at = _of_original(values, at.operands[0])
    return at is _of_original(values, base) and least_alignment(values.shape, base) % wanted == 0


def _in_steps_of(shape: Shape, address: Instruction, wanted: int) -> bool:
    """Whether what is added to an address is a multiple of so many bytes, whatever its indices are."""
    type: Type | None = address.source_type
    for number, index in enumerate(address.operands[1:]):
        if number and isinstance(type, StructType):
            assert isinstance(index, ConstantInt) and type.fields is not None
            step, type = shape.layout.offsets(type)[index.value], type.fields[index.value]
        else:
            if number:
                type = getattr(type, "element", None)
            if type is None:
                return False
            step = shape.layout.size(type) * (index.value if isinstance(index, ConstantInt) else 1)
        if step % wanted:
            return False
    return True


def least_alignment(shape: Shape, base: Base) -> int:
    """What the memory behind a pointer is presupposed to be a multiple of: what the least demanding access to it wants, of a vector each
    number of it; nothing where the kernel looks at the address as a number, for it may ask for its alignment."""
    given = base.align if isinstance(base, GlobalVariable) else 0
    if is_seen_as_number(base):
        return max(given, 1)
    found = [
        min(alignment_of(shape, i), _of_one_number(shape, type_of(i)))
        for i in shape.function.instructions()
        if effect_of(i) in (Effect.LOAD, Effect.STORE) and base in (bases(pointer_of(i)) or ())
    ]
    return max(given, min(found, default=1))


def _of_one_number(shape: Shape, type: Type) -> int:
    """What a number of this type wants; of a vector, one of its numbers: that all of it is aligned is for the program to see to."""
    return _of_one_number(shape, type.element) if isinstance(type, VectorType) else min(8, shape.layout.alignment(type))


def is_seen_as_number(base: Value) -> bool:
    """Whether the kernel uses an address made of this pointer in another way than to access memory there or to compare it."""
    waiting, seen = [base], {base}
    while waiting:
        value = waiting.pop()
        for user in value.users:
            if isinstance(user, Instruction) and user.opcode in ("load", "icmp", "atomicrmw", "cmpxchg"):
                continue
            if isinstance(user, Instruction) and user.opcode == "store" and user.operands[0] is not value:
                continue
            if isinstance(user, Instruction | ConstantExpr) and user.opcode in _STILL_A_POINTER:
                waiting += [user] if user not in seen else []
                seen.add(user)
            elif not _only_reads(user):
                return True
    return False


_STILL_A_POINTER = frozenset({"getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"})


def _only_reads(user: Value | Instruction) -> bool:
    """Whether it is a call that accesses memory and does nothing else with the address."""
    name = getattr(user.callee, "name", "") if isinstance(user, Instruction) and user.opcode == "call" else ""
    return name.startswith(
        ("llvm.nvvm.ldg.", "llvm.nvvm.ldu.", "llvm.mem", "llvm.lifetime.", "llvm.prefetch", "llvm.assume")
    )


def _known_alignment(values: Values, thread: Thread, base: Base) -> Iterator[Expr]:
    """Where the memory behind a pointer begins: what is presupposed, and what the guard says that it points at the beginning."""
    start = thread.term(base).value
    yield start % least_alignment(values.shape, base) == 0
    if isinstance(base, Argument) and AtStart(base.index) in values.guards:
        yield start % ALLOCATED == 0


ALLOCATED = 256
"""Bytes that ``cudaMalloc`` and everything like it align memory to."""


def _made_on_the_way(values: Values, pointer: Value) -> Iterator[Instruction]:
    """The addresses that a pointer is made of, itself included, which may not leave their memory."""
    at = pointer
    while isinstance(at, Instruction) and at.opcode in ("getelementptr", "addrspacecast"):
        if at.flags:
            yield at
        at = _of_original(values, at.operands[0])


def _made_before(values: Values, thread: Thread, block: BasicBlock, index: int | None) -> Iterator[Expr]:
    """That the accesses which were made on every way to a place were in bounds, of those whose index is asked about."""
    at: BasicBlock | None = block
    while at is not None:
        for i in at.instructions[: index if at is block else None]:
            if effect_of(i) not in (Effect.LOAD, Effect.STORE) or not _is_asked_about(thread, pointer_of(i)):
                continue
            base = _memory(pointer_of(i))
            address = thread.term(pointer_of(i)).value
            limits = _limits(thread, base) if base is not None else None
            if limits is not None:
                size = values.shape.layout.store_size(type_of(i))
                yield address >= limits[0]
                yield address + size <= limits[1]
                yield address % alignment_of(values.shape, i) == 0
        at = values.shape.dominators.immediate(at)


def _is_asked_about(thread: Thread, pointer: Value) -> bool:
    """Whether its address or its last index has a term: what has none says nothing of what is asked."""
    if thread.has_term(pointer):
        return True
    if not isinstance(pointer, Instruction) or pointer.opcode != "getelementptr":
        return False
    last = pointer.operands[-1]
    return isinstance(last, Instruction) and thread.has_term(last)


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
