"""Where things lie in memory: sizes of types, a kernel's parameters, its shared variables. One answer for everybody.

The rules are those of LLVM's data layout for ``nvptx64``, whatever the module says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from kernelwright.codegen.device_heap import heap_function
from kernelwright.codegen.indirect_calls import is_indirect, meant_functions
from kernelwright.errors import IRError
from kernelwright.ir.constants import InlineAsm
from kernelwright.ir.data_layout import DataLayout
from kernelwright.ir.module import Function, GlobalVariable, Instruction, Module
from kernelwright.ir.types import StructType, Type, parse_type
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass

DEVICE_LAYOUT = DataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64")
SHARED = 3
"""The address space of shared memory."""


def round_up(offset: int, align: int) -> int:
    """The first multiple of ``align`` (a power of two) from ``offset``."""
    return (offset + align - 1) & -align


@cache
def store_size(type: Type) -> int:
    """The bytes a load or store of ``type`` touches. Raises ``IRError`` for types without a size."""
    return _measured(DEVICE_LAYOUT.store_size, type)


@cache
def alloc_size(type: Type) -> int:
    """The distance in bytes between two neighbours in an array of ``type``."""
    return _measured(DEVICE_LAYOUT.size, type)


@cache
def align_of(type: Type) -> int:
    """The natural alignment in bytes."""
    return _measured(DEVICE_LAYOUT.alignment, type)


@cache
def field_offsets(type: StructType) -> tuple[int, ...]:
    """The offset in bytes of each field, and behind them the size of the whole struct."""
    return (*DEVICE_LAYOUT.offsets(type), alloc_size(type))


def element_bits(type: Type) -> int:
    """The bits an element takes inside a vector (``i1`` takes one)."""
    return _measured(DEVICE_LAYOUT.bits, type)


def _measured(measure: Callable[[Type], int], type: Type) -> int:
    try:
        return measure(type)
    except ValueError as error:
        raise IRError(f"{error}, so device code cannot keep it in memory") from None


# -- parameters --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """Where an argument lies in the packed buffer that a launch hands over."""

    offset: int
    size: int
    align: int
    type: Type
    """What lies there: for ``byval`` the struct, though the function sees a pointer to a copy of it."""
    byval: bool


_BYVAL = re.compile(r"\bbyval\(")
_ALIGN = re.compile(r"\balign (\d+)")


@dataclass(frozen=True)
class ParameterLayout:
    parameters: tuple[Parameter, ...]
    size: int
    """Bytes of the whole buffer."""


def parameter_layout(kernel: Function) -> ParameterLayout:
    """Where a kernel's arguments lie: one after the other, each at its own alignment, as ``cuLaunchKernel`` packs."""
    placed: list[Parameter] = []
    end = 0
    for argument in kernel.arguments:
        type, align, byval = argument.type, align_of(argument.type), False
        by_value = _BYVAL.search(argument.attributes)
        if by_value:
            type, byval = _type_in(argument.attributes, by_value.end(), kernel.module), True
            stated = _ALIGN.search(argument.attributes)
            align = int(stated[1]) if stated else align_of(type)
        start = round_up(end, align)
        size = alloc_size(type)
        placed.append(Parameter(start, size, align, type, byval))
        end = start + size
    return ParameterLayout(tuple(placed), end)


def _type_in(text: str, start: int, module: Module | None) -> Type:
    """The type written in ``text`` from ``start`` up to the bracket that closes."""
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    named: dict[str, Type] = dict(module.named_types) if module else {}
    return parse_type(text[start : end - 1], named)


RESERVED_BYTES = 1024
"""What GPUs from compute capability 8.0 on keep back of a block's shared memory (CUDA programming guide, compute capabilities)."""

# -- shared variables --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SharedLayout:
    """Offsets in bytes of the shared variables a kernel reaches; ``addrspace(3)`` pointers are these offsets."""

    offsets: dict[str, int]
    static_bytes: int
    """The end of the last static variable: dynamic shared memory starts at ``dynamic_offset``, not before."""
    dynamic_offset: int
    """Where every ``extern __shared__`` array starts: behind the static ones, at the largest alignment among them."""
    reserved: int = -1
    """Where the memory starts that a GPU keeps back in each block for system software; -1 where the kernel never asks."""

    def total(self, dynamic_bytes: int) -> int:
        """Bytes of shared memory of a block that was launched with so many dynamic ones."""
        return self.dynamic_offset + dynamic_bytes if dynamic_bytes else self.static_bytes


def shared_layout(kernel: Function) -> SharedLayout:
    """Static variables first, in the module's order, each at its own alignment; dynamic arrays behind, all together.

    Only variables that the kernel or a function it calls mentions take room.
    """
    module = kernel.module
    if module is None:
        return SharedLayout({}, 0, 0)
    mentioned = reachable_globals(kernel)
    variables = [g for g in module.globals.values() if g.address_space == SHARED and g.name in mentioned]
    offsets: dict[str, int] = {}
    end = 0
    for variable in (v for v in variables if not is_dynamic(v)):
        start = round_up(end, variable.align or align_of(variable.value_type))
        offsets[variable.name] = start
        end = start + alloc_size(variable.value_type)
    reserved = -1
    if _asks_for_reserved_memory(kernel):
        reserved = round_up(end, 16)
        end = reserved + RESERVED_BYTES
    arrays = [v for v in variables if is_dynamic(v)]
    dynamic = round_up(end, max((v.align or align_of(v.value_type) for v in arrays), default=1))
    offsets.update({v.name: dynamic for v in arrays})
    return SharedLayout(offsets, end, dynamic, reserved)


def _asks_for_reserved_memory(kernel: Function) -> bool:
    """Whether the kernel, or what it calls, reads ``%reserved_smem_offset_1`` or one of its siblings in inline PTX."""
    return any(
        isinstance(i.callee, InlineAsm) and "%reserved_smem_offset" in i.callee.text
        for f in reachable_functions(kernel)
        for i in f.instructions()
        if i.opcode == "call"
    )


def is_dynamic(variable: GlobalVariable) -> bool:
    """Whether a shared variable is an ``extern __shared__`` array, whose size the launch gives."""
    return variable.initializer is None and alloc_size(variable.value_type) == 0


def reachable_functions(kernel: Function) -> list[Function]:
    """The kernel and every function that it, or what it calls, mentions, or may mean by a pointer; in the order they are met."""
    found: dict[Function, None] = {kernel: None}
    waiting = [kernel]
    while waiting:
        function = waiting.pop()
        for value in (*_mentioned(function), *_meant(function)):
            if not isinstance(value, Function):
                continue
            value = heap_function(value) or value
            if value not in found:
                found[value] = None
                waiting.append(value)
    return list(found)


def _meant(function: Function) -> list[Function]:
    """What its calls through pointers may mean."""
    return [f for i in function.instructions() if is_indirect(i) for f in meant_functions(i)]


def reachable_globals(kernel: Function) -> set[str]:
    """The names of the variables that the kernel, or a function it reaches, mentions, initialisers included."""
    names: set[str] = set()
    seen: set[Value] = set()
    for function in reachable_functions(kernel):
        for value in _mentioned(function, seen):
            if isinstance(value, GlobalVariable):
                names.add(value.name)
    return names


def _mentioned(function: Function, seen: set[Value] | None = None) -> list[Value]:
    """Every function and variable in the operands of the function, through constant expressions and initialisers."""
    seen = set() if seen is None else seen
    found: list[Value] = []
    waiting = [v for i in function.instructions() for v in i.operands if not isinstance(v, Instruction)]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        if isinstance(value, Function | GlobalVariable):
            found.append(value)
        if value.is_composed or isinstance(value, GlobalVariable):
            seen.add(value)
            waiting += value.operands
        elif isinstance(value, Function):
            seen.add(value)
    return found
