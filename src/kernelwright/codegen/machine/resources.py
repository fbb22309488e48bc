"""What a kernel occupies on a multiprocessor: read out of the cubin, and out of the assembler's log for spills."""

from __future__ import annotations

import re
import struct

from kernelwright.codegen.machine.assemble import Cubin
from kernelwright.codegen.machine.cubin_elf import Elf, read_elf
from kernelwright.lazy_dataclasses import dataclass

# Attributes of the sections .nv.info*; names and numbers as cuobjdump -elf prints them.
REGISTER_COUNT = 0x2F
MINIMUM_STACK_SIZE = 0x12
"""The frames along the deepest chain of calls; a kernel's own frame size leaves out its callees'."""
SIZED = 4
"""The format whose payload has a length of its own."""

RESERVED_SYMBOL = ".nv.reservedSmem."
RESERVED_BYTES = 1024
"""What the system keeps of each block's shared memory from sm_90 on; the section counts it, the program does not ask for it."""

_PROPERTIES = re.compile(
    r"Function properties for (\S+)\s+(?:ptxas\s*\.?\s*)?\d+ bytes stack frame, "
    r"(\d+) bytes spill stores, (\d+) bytes spill loads"
)


@dataclass(frozen=True)
class Resources:
    """Per thread: registers (of 32 bits), stack and spills in bytes. Per block: static shared bytes. Code in bytes."""

    kernel: str
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    """None when only the cubin's bytes are known: spills stand in the assembler's log alone."""
    constant_bytes: int
    """Constant bank 0: the arguments, with the driver's own words before them; and bank 2, the literals."""
    code_bytes: int

    def __str__(self) -> str:
        if self.spill_store_bytes is None or self.spill_load_bytes is None:
            spills = "spills unknown"
        elif self.spill_store_bytes or self.spill_load_bytes:
            spills = f"spills {self.spill_store_bytes} bytes out and {self.spill_load_bytes} in"
        else:
            spills = "no spills"
        return (
            f"{self.registers} registers, {self.shared_bytes} bytes shared, {self.stack_bytes} bytes stack, {spills}, "
            f"{self.code_bytes} bytes code"
        )


def resources(cubin: Cubin | bytes, log: str | None = None) -> dict[str, Resources]:
    """One entry per kernel, by name; ``log`` is what the assembler said when it made these bytes.

    Raises ``ToolError`` for bytes that are no cubin.
    """
    data, log = (cubin.data, cubin.log) if isinstance(cubin, Cubin) else (cubin, log)
    elf = read_elf(data)
    registers, stacks = _by_symbol(elf, REGISTER_COUNT), _by_symbol(elf, MINIMUM_STACK_SIZE)
    reserved = RESERVED_BYTES if any(s.name.startswith(RESERVED_SYMBOL) for s in elf.symbols) else 0
    spills = {name: (int(stores), int(loads)) for name, stores, loads in _PROPERTIES.findall(log or "")}
    found = {}
    for section in elf.sections:
        # Device functions have code sections too; only what the host can launch has its own constant bank 0.
        name = section.name.removeprefix(".text.")
        if name == section.name or elf.section(f".nv.constant0.{name}") is None:
            continue
        stores, loads = spills.get(name, (None, None) if log is None else (0, 0))
        found[name] = Resources(
            kernel=name,
            registers=registers.get(name, 0),
            shared_bytes=max(0, _size(elf, f".nv.shared.{name}") - reserved),
            stack_bytes=stacks.get(name, 0),
            spill_store_bytes=stores,
            spill_load_bytes=loads,
            constant_bytes=_size(elf, f".nv.constant0.{name}") + _size(elf, f".nv.constant2.{name}"),
            code_bytes=section.size,
        )
    return found


def _size(elf: Elf, name: str) -> int:
    section = elf.section(name)
    return section.size if section else 0


def _by_symbol(elf: Elf, wanted: int) -> dict[str, int]:
    """The values of an attribute that pairs a symbol's index with a number, by the symbol's name."""
    section = elf.section(".nv.info")
    values: dict[str, int] = {}
    data, at = (section.data if section else b""), 0
    while at + 4 <= len(data):
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind != SIZED:
            continue
        if attribute == wanted and at + 8 <= len(data):
            symbol, value = struct.unpack_from("<II", data, at)
            if symbol < len(elf.symbols):
                values[elf.symbols[symbol].name] = value
        at += size
    return values
