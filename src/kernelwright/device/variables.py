"""Module variables in the device's memory: ``__device__`` and ``__constant__`` variables become buffers of the arena."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.codegen.layout import SHARED, align_of, alloc_size
from kernelwright.device.memory import FUNCTION_BASE, GENERIC, Arena, Buffer
from kernelwright.device.values import Constants, encoder
from kernelwright.errors import CompileError
from kernelwright.ir.module import GlobalVariable, Module

CONSTANT = 4
"""The address space of ``__constant__`` memory."""


@dataclass(frozen=True)
class Variables:
    """A module's variables in memory: they keep their values from launch to launch."""

    buffers: dict[str, Buffer]
    addresses: dict[str, int]
    """Generic addresses of variables and functions by name. Shared variables are not among them: see ``layout``."""


def load_variables(module: Module, arena: Arena) -> Variables:
    """Gives every global and constant variable of the module a buffer, by its name, and writes its initial value.

    A variable that another module defines (``extern __device__``) is the buffer of that name, if the arena has one.
    Raises ``CompileError`` for one that nobody defines, ``DeviceError`` when memory runs out.
    """
    buffers: dict[str, Buffer] = {}
    known = {b.name: b for b in arena.buffers}
    variables = [
        v for v in module.globals.values()
        if v.address_space != SHARED and v.kind not in ("alias", "ifunc") and not v.name.startswith("llvm.")
    ]  # fmt: skip
    for variable in variables:
        buffer = known.get(variable.name) if variable.initializer is None else None
        if buffer is None:
            buffer = _allocate(variable, arena)
        if buffer is not None:
            buffers[variable.name] = buffer
    addresses = {name: b.address for name, b in buffers.items()}
    addresses |= {name: FUNCTION_BASE + 16 * (n + 1) for n, name in enumerate(module.functions)}
    constants = Constants(addresses, GENERIC)
    for variable in variables:
        if variable.initializer is not None:
            buffer = buffers[variable.name]
            data = encoder(variable.value_type)(constants.value(variable.initializer))
            arena.bytes(buffer.address, len(data))[:] = data
    return Variables(buffers, addresses)


def _allocate(variable: GlobalVariable, arena: Arena) -> Buffer | None:
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
