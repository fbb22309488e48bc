"""From IR types and constants to numbers per lane: a vector or struct is a row of them, a pointer an ``i64``."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from kernelwright.codegen.memory_layout import alloc_size, field_offsets
from kernelwright.codegen.simt.program.program import Const, Operand, Program, integer, is_float, zero_of
from kernelwright.errors import CompileError
from kernelwright.ir.constants import (
    ConstantAggregate,
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    ConstantNull,
    ConstantString,
    Poison,
    Undef,
    ZeroInitializer,
)
from kernelwright.ir.module import GlobalVariable
from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType, void
from kernelwright.ir.values import Value

SHARED_BASE = 0x0100_0000_0000
LOCAL_BASE = 0x0200_0000_0000
CONSTANT_SPACE = 4
BASES = {0: 0, 1: 0, CONSTANT_SPACE: 0, 3: SHARED_BASE, 5: LOCAL_BASE}
"""``generic = pointer + BASES[address space]``; see ``device/arena.py``."""


class Scalar(NamedTuple):
    """One lane value of an IR type. ``pointer`` is its address space, -1 when it is no pointer."""

    type: str
    pointer: int = -1


@cache
def scalars(type: Type) -> tuple[Scalar, ...]:
    """The numbers a value of this type consists of. Raises ``CompileError`` for types a GPU has no numbers for."""
    match type:
        case IntType():
            if type.bits > 128:
                raise CompileError(f"integers of {type.bits} bits do not run on the virtual GPU")
            return (Scalar(f"i{type.bits}"),)
        case FloatType() if type.kind in ("half", "bfloat", "float", "double"):
            return (Scalar(type.kind),)
        case PointerType():
            return (Scalar("i64", type.address_space),)
        case VectorType() if not type.scalable:
            return scalars(type.element) * type.count
        case ArrayType():
            return scalars(type.element) * type.count
        case StructType() if type.fields is not None:
            return tuple(s for f in type.fields for s in scalars(f))
    if type is void:
        return ()
    raise CompileError(f"values of type {type} do not run on the virtual GPU")


@cache
def places(type: Type) -> tuple[tuple[int, Type], ...]:
    """Offset and type of each part of an aggregate that is loaded at once: a scalar or a vector."""
    if isinstance(type, StructType) and type.fields is not None:
        pairs = zip(field_offsets(type), type.fields, strict=False)
        return tuple((at + inner, t) for at, field in pairs for inner, t in places(field))
    if isinstance(type, ArrayType):
        step = alloc_size(type.element)
        return tuple((i * step + inner, t) for i in range(type.count) for inner, t in places(type.element))
    return ((0, type),)


def slice_of(type: Type, indices: tuple[int, ...]) -> tuple[int, int]:
    """Which of the scalars of an aggregate ``extractvalue`` with these indices takes: first and end."""
    first = 0
    for index in indices:
        if isinstance(type, StructType) and type.fields is not None:
            first += sum(len(scalars(f)) for f in type.fields[:index])
            type = type.fields[index]
        elif isinstance(type, ArrayType | VectorType):
            first += index * len(scalars(type.element))
            type = type.element
    return first, first + len(scalars(type))


_FLOATS: dict[tuple[str, str], Const] = {}


def constant(value: Value, program: Program, shared: dict[str, int]) -> list[Operand] | None:
    """The scalars of a constant that needs no computation, ``None`` for others (addresses of device variables).

    ``shared`` gives the offsets of shared variables.
    """
    match value:
        case ConstantInt():
            return [integer(value.type.text, value.value)]
        case ConstantFloat():
            key = (value.type.text, value.text)
            found = _FLOATS.get(key)
            if found is None:
                found = _FLOATS[key] = Const(value.type.text, value.text)
            return [found]
        case ConstantNull():
            return [integer("i64", 0)]
        case Undef() | Poison() | ZeroInitializer():
            return [zero_of(s.type) for s in scalars(value.type)]
        case ConstantString():
            return [integer("i8", b) for b in value.bytes]
        case ConstantAggregate():
            parts = [constant(v, program, shared) for v in value.operands]
            return None if None in parts else [s for p in parts if p is not None for s in p]
        case GlobalVariable() if value.address_space == 3:
            return [integer("i64", shared[value.name])]
        case ConstantExpr():
            return _expression(value, program, shared)
    return None


def _expression(value: ConstantExpr, program: Program, shared: dict[str, int]) -> list[Operand] | None:
    if value.opcode == "splat":
        inner = constant(value.operands[0], program, shared)
        assert isinstance(value.type, VectorType)
        return None if inner is None else inner * value.type.count
    parts = [constant(v, program, shared) for v in value.operands]
    numbers = [p[0].value if p and len(p) == 1 and isinstance(p[0], Const) else None for p in parts]
    known = [n for n in numbers if n is not None]
    if len(known) != len(numbers) or is_float(scalars(value.type)[0].type):
        return None
    type = scalars(value.type)[0].type
    match value.opcode:
        case "getelementptr":
            assert value.source_type is not None
            return [integer(type, known[0] + offset_of(value.source_type, known[1:]))]
        case "addrspacecast":
            source, target = scalars(value.operands[0].type)[0].pointer, scalars(value.type)[0].pointer
            return [integer(type, known[0] + BASES[source] - BASES[target])]
        case "inttoptr" | "ptrtoint" | "ptrtoaddr" | "trunc" | "bitcast":
            return [integer(type, known[0])]
        case "add":
            return [integer(type, known[0] + known[1])]
        case "sub":
            return [integer(type, known[0] - known[1])]
        case "xor":
            return [integer(type, known[0] ^ known[1])]
    return None


def offset_of(source: Type, indices: list[int]) -> int:
    """The bytes ``getelementptr`` adds for constant indices. Raises ``CompileError`` for a type without elements."""
    offset = indices[0] * alloc_size(source)
    for index in indices[1:]:
        if isinstance(source, StructType) and source.fields is not None:
            offset += field_offsets(source)[index]
            source = source.fields[index]
        elif isinstance(source, ArrayType | VectorType):
            source = source.element
            offset += index * alloc_size(source)
        else:
            raise CompileError(f"'getelementptr' cannot step into type {source}")
    return offset
