"""Accesses to single numbers that code generation joins into one request, which a GPU refuses at an address it is not aligned to.

    %x = load float, ptr %p, align 8            ld.global.v2.f32 {x, y}, [p];
    %q = getelementptr i8, ptr %p, i64 4   ->
    %y = load float, ptr %q, align 4

A ``float2`` is read like that: LLVM takes it apart before anything else. Only accesses beside each other in one block count, with
nothing between them that may touch memory; one that has no such neighbours goes through at any address of its own size.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.codegen.memory_layout import DEVICE_LAYOUT, alloc_size
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import Argument, Instruction
from kernelwright.ir.types import FloatType, IntType, Type

WIDEST = 16
"""Bytes of a request."""
_UNTOUCHED = frozenset({"atomicrmw", "call", "cmpxchg", "fence", "invoke"})


def joined_alignment(access: Instruction, type: Type) -> int:
    """What a load or store of a number must be aligned to because of those it is joined with: 0 where that says nothing new."""
    if access.opcode not in ("load", "store") or not isinstance(type, IntType | FloatType) or not _is_plain(access):
        return 0
    size, pointer = alloc_size(type), access.operands[-1]
    most = min(access.align, WIDEST)
    if most <= size or size & (size - 1) or not isinstance(pointer, Instruction | Argument):
        return 0
    beside = {offset: other for offset, other in _beside(access, pointer) if _type_of(other) == type}
    together, count = [access], 1
    while 2 * count * size <= most and all(k * size in beside for k in range(count, 2 * count)):
        together += [beside[k * size] for k in range(count, 2 * count)]
        count *= 2
    return count * size if count > 1 and _nothing_between(together) else 0


def _beside(access: Instruction, pointer: Instruction | Argument) -> Iterator[tuple[int, Instruction]]:
    """Accesses of the same kind in the same block, at known distances from a pointer."""
    for user in pointer.users:
        if not isinstance(user, Instruction) or user.opcode != "getelementptr" or user.operands[0] is not pointer:
            continue
        indices = tuple(index.value for index in user.operands[1:] if isinstance(index, ConstantInt))
        if len(indices) < len(user.operands) - 1 or user.source_type is None:
            continue
        for other in user.users:
            if (
                isinstance(other, Instruction)
                and other.opcode == access.opcode
                and other.operands[-1] is user
                and other.parent is access.parent
                and _is_plain(other)
            ):
                yield DEVICE_LAYOUT.constant_offset(user.source_type, indices), other


def _is_plain(access: Instruction) -> bool:
    return not access.volatile and access.ordering == ""


def _type_of(access: Instruction) -> Type:
    return access.type if access.opcode == "load" else access.operands[0].type


def _nothing_between(together: list[Instruction]) -> bool:
    """Whether nothing lies between accesses that keeps them apart."""
    block = together[0].parent
    assert block is not None
    apart = _UNTOUCHED | ({"store"} if together[0].opcode == "load" else {"load", "store"})
    left = len(together)
    for instruction in block.instructions:
        if instruction in together:
            left -= 1
            if not left:
                return True
        elif 0 < left < len(together) and instruction.opcode in apart:
            return False
    return False
