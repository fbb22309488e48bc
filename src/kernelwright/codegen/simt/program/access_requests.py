"""Loads, stores and atomics as the requests a GPU makes: at most 16 bytes per lane, as many as are aligned together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.codegen.joined_accesses import joined_alignment
from kernelwright.codegen.memory_layout import align_of
from kernelwright.codegen.simt.program.flatten_arithmetic import recast
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, places, scalars
from kernelwright.codegen.simt.program.program import Access, Const, Operand, bits_of, bytes_of, integer, is_float
from kernelwright.errors import CompileError
from kernelwright.ir.fences import WIDTHS, fences_in
from kernelwright.ir.module import Instruction
from kernelwright.ir.types import PointerType, VectorType
from kernelwright.ir.values import Value

Handler = Callable[[FlatteningContext, Instruction], None]


def _alloca(flat: FlatteningContext, instruction: Instruction) -> None:
    base = 0 if instruction.address_space == 5 else LOCAL_BASE
    flat.set(instruction, [integer("i64", base + flat.offsets[instruction])])


def _get_element_pointer(flat: FlatteningContext, instruction: Instruction) -> None:
    if isinstance(instruction.type, VectorType):
        raise CompileError(f"vectors of pointers do not run on the virtual GPU: {instruction}")
    flat.set(
        instruction,
        [flat.element_address(instruction.source_type, instruction.operands, scalars(instruction.type)[0].pointer)],
    )


def request(flat: FlatteningContext, kind: str, type: str, components: int, align: int, operation: str = "") -> Access:
    """Another access of the program."""
    assert flat.now.origin is not None
    made = Access(
        len(flat.program.accesses), kind, type, components, align, 0, flat.instruction,
        flat.function_now.name, flat.now.origin.name, operation,
    )  # fmt: skip
    flat.program.accesses.append(made)
    return made


def _pieces(type: Any, align: int) -> list[tuple[int, str, int, int, int]]:
    """A load or store of a type as single requests: offset, scalar, pointer space, components, alignment."""
    pieces = []
    for at, part in places(type):
        row = scalars(part)
        s, n = row[0], len(row)
        size = bytes_of(s.type)
        if isinstance(part, VectorType) and bits_of(s.type) != size * 8 and n > 1:
            raise CompileError(f"memory accesses of type {part} do not run on the virtual GPU")
        known = align if at == 0 else min(align, at & -at)
        # The GPU moves at most 16 bytes at once, and only as many as are aligned together.
        step = max(min(known, 16) // size, 1)
        step = 1 << (min(step, n).bit_length() - 1)
        first = 0
        while first < n:
            many = min(step, n - first)
            many = 1 << (many.bit_length() - 1)
            pieces.append((at + first * size, s.type, s.pointer, many, min(known, size * many)))
            first += many
    return pieces


def _place(flat: FlatteningContext, pointer: Operand, offset: int, space: int) -> Operand:
    if not offset:
        return pointer
    if isinstance(pointer, Const) and pointer.value is not None:
        return integer("i64", pointer.value + offset)
    return flat.emit("gep", (pointer,), "i64", (offset, ()), space)


def _load(flat: FlatteningContext, instruction: Instruction) -> None:
    address = instruction.operands[0]
    pointer = flat.one(address)
    space = _space(address)
    align = instruction.align or align_of(instruction.type)
    row: Row = []
    joined = joined_alignment(instruction, instruction.type)
    for at, type, kind, many, known in _pieces(instruction.type, align):
        known = max(known, joined)
        access = request(flat, "load", memory_type(type), many, known)
        access.space, access.volatile = space, instruction.volatile or instruction.ordering != ""
        outs = flat.effect("load", (_place(flat, pointer, at, space),), access, ((access.type, kind),) * many)
        row += [_narrow(flat, o, type) for o in outs]
    flat.set(instruction, row)


def _narrow(flat: FlatteningContext, operand: Operand, type: str) -> Operand:
    return operand if operand.type == type else flat.emit("trunc", (operand,), type)


def _store(flat: FlatteningContext, instruction: Instruction) -> None:
    value, address = instruction.operands
    pointer, row = flat.one(address), flat.row(value)
    space = _space(address)
    align = instruction.align or align_of(value.type)
    first = 0
    joined = joined_alignment(instruction, value.type)
    for at, type, _, many, known in _pieces(value.type, align):
        known = max(known, joined)
        wide = memory_type(type)
        parts = [o if o.type == wide else flat.emit("zext", (o,), wide) for o in row[first : first + many]]
        first += many
        access = request(flat, "store", wide, many, known)
        access.space, access.volatile = space, instruction.volatile or instruction.ordering != ""
        flat.effect("store", (_place(flat, pointer, at, space), *parts), access)


def _atomicrmw(flat: FlatteningContext, instruction: Instruction) -> None:
    address, value = instruction.operands
    pointer, row = flat.one(address), flat.row(value)
    types = scalars(value.type)
    if len(row) > 1:
        bits = sum(bits_of(o.type) for o in row)
        packed = recast(flat, row, [f"i{bits}"])
        operation = f"{instruction.operation}.{types[0].type}x{len(row)}"
        made = atomic(flat, instruction, address, operation, (pointer, *packed), f"i{bits}")
        flat.set(instruction, recast(flat, made, [t.type for t in types]))
        return
    flat.set(instruction, atomic(flat, instruction, address, instruction.operation, (pointer, row[0]), types[0].type))


def atomic(
    flat: FlatteningContext,
    instruction: Instruction,
    address: Value,
    operation: str,
    args: tuple[Operand, ...],
    type: str,
) -> Row:
    """Requests of an atomic operation on ``address``; the old value by lane."""
    access = request(flat, "atomic", type, 1, bytes_of(type), operation)
    access.space = _space(address)
    return flat.effect("atomic", args, access, ((type, -1),))


def _cmpxchg(flat: FlatteningContext, instruction: Instruction) -> None:
    address, expected, wanted = instruction.operands
    args = (flat.one(address), flat.one(wanted), flat.one(expected))
    type = args[1].type
    old = atomic(flat, instruction, address, "cas", args, type)[0]
    same = flat.emit("icmp", (old, args[2]), "i1", "eq")
    flat.set(instruction, [old, same])


def fence(flat: FlatteningContext, instruction: Instruction) -> None:
    """One for each width that the instruction orders accesses for; between the lanes of a block all are seen at once."""
    for width in fences_in(instruction):
        flat.effect("fence", (), WIDTHS.index(width))


def _ordered(handler: Handler) -> Handler:
    """An access that acquires or releases, as an access between fences of its width."""

    def put(flat: FlatteningContext, instruction: Instruction) -> None:
        ordering = instruction.ordering
        if ordering in ("release", "acq_rel", "seq_cst"):
            fence(flat, instruction)
        handler(flat, instruction)
        if ordering in ("acquire", "acq_rel", "seq_cst"):
            fence(flat, instruction)

    return put


def _space(address: Value) -> int:
    """0 generic, global or constant; 1 shared; 2 local: what the pointer's type says."""
    assert isinstance(address.type, PointerType)
    return {3: 1, 5: 2}.get(address.type.address_space, 0)


def memory_type(type: str) -> str:
    """Memory holds whole bytes: ``i1`` is an ``i8`` there, ``i20`` an ``i24``."""
    return type if is_float(type) or bits_of(type) % 8 == 0 else f"i{8 * bytes_of(type)}"


HANDLERS: dict[str, Handler] = {
    "alloca": _alloca,
    "getelementptr": _get_element_pointer,
    "load": _ordered(_load),
    "store": _ordered(_store),
    "atomicrmw": _ordered(_atomicrmw),
    "cmpxchg": _ordered(_cmpxchg),
    "fence": fence,
}
