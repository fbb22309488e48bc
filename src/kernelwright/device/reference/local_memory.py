"""Local memory: where the arrays of a function lie, and the structs that are passed to it by value."""

from __future__ import annotations

from kernelwright.codegen.call_graph import stack_is_full
from kernelwright.codegen.memory_layout import align_of, alloc_size, round_up
from kernelwright.device.arena import LOCAL_BASE
from kernelwright.device.reference.memory_access import read_bytes
from kernelwright.device.reference.thread_state import Stop, Thread
from kernelwright.device.reference.unsupported import refuse
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import Function
from kernelwright.ir.types import Type
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """The local memory of one call of a function."""

    offsets: dict[Value, int]
    """Of each alloca, and of each ``byval`` parameter, which is a copy."""
    size: int
    align: int


ALIGN = 16
"""Bytes between the starts of frames are a multiple of that."""


def frame_of(function: Function, byval: dict[Value, tuple[Type, int]], least: int = 0) -> Frame:
    """Where parameters passed by value and allocas lie, in ``least`` bytes or more. Raises ``CompileError`` for an alloca of no fixed
    size."""
    offsets: dict[Value, int] = {}
    end, widest = 0, 16
    for value, (type, align) in byval.items():
        offsets[value] = start = round_up(end, align)
        end, widest = start + alloc_size(type), max(widest, align)
    for i in function.instructions():
        if i.opcode != "alloca":
            continue
        (count,) = i.operands or (ConstantInt(ty.i32, 1),)
        if i.parent is not function.entry or not isinstance(count, ConstantInt):
            raise refuse(i, "local arrays must have a size that is known when the kernel starts")
        align = i.align or align_of(i.allocated_type)
        offsets[i] = start = round_up(end, align)
        end, widest = start + alloc_size(i.allocated_type) * count.unsigned, max(widest, align)
    return Frame(offsets, max(end, least), widest)


def too_deep(t: Thread, function: Function, site: int) -> None:
    """The stack has no room for another frame. Raises ``Stop``."""
    raise Stop("stack", stack_is_full(function, t.block.launch.stack_bytes), t, site)


def copy_in(t: Thread, value: int | bytes, offset: int, size: int, site: int) -> int:
    """A ``byval`` parameter: the bytes of the launch, or those a pointer names, copied into local memory."""
    data = value if isinstance(value, bytes) else read_bytes(t, value, size, 1, site)
    t.local.raw[offset : offset + size] = data
    if t.local.written is not None:
        t.local.written[offset : offset + size] = b"\1" * size
    return LOCAL_BASE + offset
