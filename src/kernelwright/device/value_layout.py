"""How values of each type look in the reference executor, and how they lie in memory.

An integer or pointer is a Python int from 0 to 2^bits - 1 (``i1`` may be a bool), a floating point value a Python float
(see ``numbers``), a vector, array or struct a tuple. ``undef`` and ``poison`` are zero.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from kernelwright.codegen.memory_layout import alloc_size, element_bits, field_offsets, store_size
from kernelwright.device import floating_point as num
from kernelwright.errors import IRError
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
from kernelwright.ir.module import Function, GlobalVariable
from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType
from kernelwright.ir.values import Value

Item = Any
"""A value of any type: int, float or tuple."""

FLOAT_BITS: dict[str, Callable[[float], int]] = {
    "half": num.half_bits,
    "bfloat": num.bfloat_bits,
    "float": num.single_bits,
    "double": num.double_bits,
}
FLOAT_FROM_BITS: dict[str, Callable[[int], float]] = {
    "half": num.HALF_VALUES.__getitem__,
    "bfloat": num.bfloat_from_bits,
    "float": num.single_from_bits,
    "double": num.double_from_bits,
}


def bits_of(type: Type) -> int:
    """The width of an integer, float or pointer. Raises ``IRError`` for another type."""
    if isinstance(type, IntType | FloatType):
        return type.bits
    if isinstance(type, PointerType):
        return 8 * store_size(type)
    raise IRError(f"type {type} is no single number")


def zero_of(type: Type) -> Item:
    """The zero of a type, as the reference executor holds it."""
    if isinstance(type, FloatType):
        return 0.0
    return tuple(zero_of(t) for t in elements_of(type)) if is_aggregate(type) else 0


def is_aggregate(type: Type) -> bool:
    """Whether a type has elements: a vector, an array or a struct."""
    return isinstance(type, VectorType | ArrayType | StructType)


def elements_of(type: Type) -> tuple[Type, ...]:
    """The types of a vector's, array's or struct's elements. Raises ``IRError`` for another type."""
    if isinstance(type, StructType):
        return type.fields or ()
    if isinstance(type, VectorType | ArrayType):
        return (type.element,) * type.count
    raise IRError(f"type {type} has no elements")


@cache
def decoder(type: Type) -> Callable[[bytes], Item]:
    """From the ``store_size`` bytes of memory to the value."""
    if isinstance(type, IntType):
        mask = (1 << type.bits) - 1
        return lambda raw: int.from_bytes(raw, "little") & mask
    if isinstance(type, PointerType):
        return lambda raw: int.from_bytes(raw, "little")
    if isinstance(type, FloatType):
        from_bits = _float_codec(type, FLOAT_FROM_BITS)
        return lambda raw: from_bits(int.from_bytes(raw, "little"))
    if isinstance(type, VectorType):
        bits = element_bits(type.element)
        return lambda raw: _unpack_vector(int.from_bytes(raw, "little"), type, bits)
    fields = [(at, at + store_size(t), decoder(t)) for at, t in _places(type)]
    return lambda raw: tuple(decode(raw[start:end]) for start, end, decode in fields)


@cache
def encoder(type: Type) -> Callable[[Item], bytes]:
    """From the value to its ``store_size`` bytes; padding inside is zero."""
    size = store_size(type)
    if isinstance(type, IntType | PointerType):
        return lambda value: int(value).to_bytes(size, "little")
    if isinstance(type, FloatType):
        to_bits = _float_codec(type, FLOAT_BITS)
        return lambda value: to_bits(value).to_bytes(size, "little")
    if isinstance(type, VectorType):
        return lambda value: to_bits_of(type, value).to_bytes(size, "little")
    fields = [(at, at + store_size(t), encoder(t)) for at, t in _places(type)]

    def encode(value: Item) -> bytes:
        raw = bytearray(size)
        for (start, end, encode_field), element in zip(fields, value, strict=True):
            raw[start:end] = encode_field(element)
        return bytes(raw)

    return encode


def _float_codec(type: FloatType, table: dict[str, Any]) -> Any:
    if type.kind not in table:
        raise IRError(f"floating point type {type} does not exist on a GPU", hint="use double")
    return table[type.kind]


def _places(type: Type) -> list[tuple[int, Type]]:
    """The offset and type of each element of an array or struct."""
    if isinstance(type, StructType):
        return list(zip(field_offsets(type), type.fields or (), strict=False))
    if isinstance(type, ArrayType):
        step = alloc_size(type.element)
        return [(i * step, type.element) for i in range(type.count)]
    raise IRError(f"a value of type {type} cannot be in memory")


def to_bits_of(type: Type, value: Item) -> int:
    """The value as one unsigned integer, the first vector element lowest."""
    if isinstance(type, VectorType):
        step = element_bits(type.element)
        return sum(to_bits_of(type.element, element) << (i * step) for i, element in enumerate(value))
    if isinstance(type, FloatType):
        return int(_float_codec(type, FLOAT_BITS)(value))
    return int(value)


def from_bits_of(type: Type, bits: int) -> Item:
    """The inverse of ``to_bits_of``."""
    if isinstance(type, VectorType):
        return _unpack_vector(bits, type, element_bits(type.element))
    if isinstance(type, FloatType):
        return _float_codec(type, FLOAT_FROM_BITS)(bits)
    return bits


def _unpack_vector(bits: int, type: VectorType, step: int) -> Item:
    mask = (1 << step) - 1
    return tuple(from_bits_of(type.element, bits >> (i * step) & mask) for i in range(type.count))


# -- constants ---------------------------------------------------------------------------------------------------------


class Constants:
    """Evaluates constants; ``addresses`` gives the pointer value of every global and function by name."""

    def __init__(self, addresses: dict[str, int], bases: dict[int, int]) -> None:
        self.addresses = addresses
        self.bases = bases
        """What turns a pointer of an address space into a generic one: ``generic = value + bases[space]``."""

    def value(self, constant: Value) -> Item:
        """The value of any constant. Raises ``IRError`` for what no device code contains."""
        match constant:
            case ConstantInt():
                return constant.unsigned
            case ConstantFloat():
                return float_constant(constant)
            case ConstantNull():
                return 0
            case Undef() | Poison() | ZeroInitializer():
                return zero_of(constant.type)
            case ConstantString():
                return tuple(constant.bytes)
            case ConstantAggregate():
                return tuple(self.value(v) for v in constant.operands)
            case ConstantExpr():
                return self._expression(constant)
            case GlobalVariable(kind="alias") if constant.initializer is not None:
                return self.value(constant.initializer)
            case GlobalVariable() | Function() if constant.name in self.addresses:
                return self.addresses[constant.name]
            case GlobalVariable() | Function():
                raise IRError(f"'{constant.name}' has no address on the device: nothing defines it")
        raise IRError(f"constant '{constant}' has no value on the device")

    def _expression(self, expression: ConstantExpr) -> Item:
        values = [self.value(v) for v in expression.operands]
        first = expression.operands[0].type
        match expression.opcode:
            case "getelementptr":
                assert expression.source_type is not None
                indices = [signed(v, bits_of(o.type)) for v, o in zip(values[1:], expression.operands[1:], strict=True)]
                offset = constant_offset(expression.source_type, indices)
                return (values[0] + offset) % (1 << 64)
            case "addrspacecast":
                assert isinstance(first, PointerType) and isinstance(expression.type, PointerType)
                return (values[0] + self.bases[first.address_space] - self.bases[expression.type.address_space]) % (
                    1 << 64
                )
            case "inttoptr" | "ptrtoint" | "ptrtoaddr" | "trunc":
                return values[0] % (1 << bits_of(expression.type))
            case "bitcast":
                return from_bits_of(expression.type, to_bits_of(first, values[0]))
            case "add":
                return (values[0] + values[1]) % (1 << bits_of(first))
            case "sub":
                return (values[0] - values[1]) % (1 << bits_of(first))
            case "xor":
                return values[0] ^ values[1]
            case "splat":
                return (values[0],) * len(elements_of(expression.type))
        raise IRError(f"constant expression '{expression.opcode}' is not supported in device code")


def float_constant(constant: ConstantFloat) -> float:
    """The value, with the payload of a NaN kept: LLVM writes a ``float`` as the double it converts to."""
    value = constant.value
    if value == value or not isinstance(constant.type, FloatType):
        return value
    kind, text = constant.type.kind, constant.text
    if kind == "float":
        wide = int(text[2:], 16)
        return num.single_from_bits((wide >> 63) << 31 | 0x7F800000 | (wide >> 29 & 0x7FFFFF))
    if kind in ("half", "bfloat"):
        return FLOAT_FROM_BITS[kind](int(text[3:], 16))
    return float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])


def signed(value: int, bits: int) -> int:
    """An unsigned pattern read in two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else int(value)


def constant_offset(source: Type, indices: list[int]) -> int:
    """The bytes that ``getelementptr`` adds for constant indices."""
    offset = indices[0] * alloc_size(source)
    for index in indices[1:]:
        if isinstance(source, StructType):
            offset += field_offsets(source)[index]
            source = elements_of(source)[index]
        else:
            source = element_type(source)
            offset += index * alloc_size(source)
    return offset


def element_type(type: Type) -> Type:
    """What an array or vector holds. Raises ``IRError`` for another type."""
    if isinstance(type, ArrayType | VectorType):
        return type.element
    raise IRError(f"'getelementptr' cannot step into type {type}")
