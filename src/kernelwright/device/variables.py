"""Module variables in the device's memory: ``__device__`` and ``__constant__`` variables become buffers of the arena."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.codegen.device_heap import HEAP, HEAP_ALIGN, HEAP_BYTES, needs_heap
from kernelwright.codegen.memory_layout import SHARED, align_of, alloc_size
from kernelwright.device.arena import FUNCTION_BASE, GENERIC, Arena, Buffer
from kernelwright.device.value_layout import Constants, encoder
from kernelwright.errors import CompileError
from kernelwright.ir.module import GlobalVariable, Module
from kernelwright.lazy_dataclasses import dataclass

CONSTANT = 4
"""The address space of ``__constant__`` memory."""


@dataclass(frozen=True)
class Variables:
    """A module's variables in memory: they keep their values from launch to launch."""

    buffers: dict[str, Buffer]
    addresses: dict[str, int]
    """Generic addresses of variables and functions by name. Shared variables are not among them: see ``layout``."""


def load_variables(
    module: Module,
    arena: Arena,
    placed: Mapping[str, Buffer] | None = None,
    fresh: Mapping[str, Buffer] | None = None,
) -> Variables:
    """Gives every global and constant variable of the module a buffer, by its name, and writes its initial value.

    ``placed`` names variables that are in memory already, with the values they are to have: managed ones, and those of
    other modules. Those in ``fresh`` have a buffer, but not yet their initial values. A variable that was not placed and
    another module defines (``extern __device__``) is the buffer of that name, if the arena has one. Raises
    ``CompileError`` for one that nothing defines, ``DeviceError`` when memory runs out.
    """
    placed = placed or {}
    buffers = {**placed, **(fresh or {})}
    known = {b.name: b for b in arena.buffers if b.device == arena.device}
    for variable in variables_of(module):
        if variable.name in buffers:
            continue
        buffer = known.get(variable.name) if variable.initializer is None else None
        if buffer is None:
            buffer = place_variable(variable, arena)
        if buffer is not None:
            buffers[variable.name] = buffer
    if needs_heap(module) and HEAP not in buffers:
        buffers[HEAP] = known.get(HEAP) or arena.allocate(HEAP_BYTES, HEAP, HEAP_ALIGN, fill=0)
    return write_initial_values(module, arena, buffers, kept=placed)


def variables_of(module: Module) -> list[GlobalVariable]:
    """The module's variables in global and constant memory."""
    return [
        v for v in module.globals.values()
        if v.address_space != SHARED and v.kind not in ("alias", "ifunc") and not v.name.startswith("llvm.")
    ]  # fmt: skip


def place_variable(variable: GlobalVariable, arena: Arena) -> Buffer | None:
    """A zeroed buffer for a variable; None for a declaration that nothing uses.

    Raises ``CompileError`` for a declaration that is used, ``DeviceError`` when memory runs out.
    """
    size = alloc_size(variable.value_type)
    if variable.initializer is None:
        if not variable.is_used:
            return None
        raise CompileError(
            f"Device variable '{variable.name}' is declared but defined nowhere.",
            hint="define it in one of the program's files and link them together",
        )
    align = max(variable.align, align_of(variable.value_type), 16)
    writable = variable.address_space != CONSTANT and not variable.is_read_only
    return arena.allocate(size, variable.name, align, writable=writable, fill=0)


def write_initial_values(
    module: Module, arena: Arena, buffers: Mapping[str, Buffer], kept: Mapping[str, Buffer] | None = None
) -> Variables:
    """Writes what the module's variables hold at first, except those in ``kept``, whose memory is as it should be."""
    addresses = {name: b.address for name, b in buffers.items()}
    addresses |= {name: FUNCTION_BASE + 16 * (n + 1) for n, name in enumerate(module.functions)}
    constants = Constants(addresses, GENERIC)
    for variable in variables_of(module):
        if variable.initializer is not None and variable.name not in (kept or {}):
            data = encoder(variable.value_type)(constants.value(variable.initializer))
            arena.bytes(buffers[variable.name].address, len(data))[:] = data
    return Variables(dict(buffers), addresses)
