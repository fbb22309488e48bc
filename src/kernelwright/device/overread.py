"""Reads past a buffer that a GPU lets pass, as values.

A GPU checks addresses by the page, 2 MiB for what ``cudaMalloc`` gives, and pages are larger than most buffers, so that a
program may read a row before its image, not use it, and work on every GPU. A read outside of every live buffer, and within
``GAP`` bytes of one, is let pass here too: no buffer and nothing that was freed lies there, wherever buffers lie. Each byte
outside reads as ``settings.OVERREAD``, unless what depends on it is to be seen. Writes, atomics and all other addresses
fault.
``docs/decisions/0014-reads-past-a-buffer.md`` has the reasons.
"""

from __future__ import annotations

from kernelwright.cuda.names import readable
from kernelwright.device.arena import GAP, Arena, Buffer
from kernelwright.device.describe_access import describe_access, plural
from kernelwright.device.fault import Location
from kernelwright.device.locations import location_of
from kernelwright.ir.module import Instruction
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Overread:
    """Reads of one instruction past one side of one buffer during one launch: ``count`` of them, and the farthest."""

    kernel: str
    """Its mangled name."""
    origin: Instruction
    buffer: Buffer
    before: bool
    """Whether they lie before the buffer's start, not behind its end."""
    count: int
    farthest: int
    """Bytes from the buffer to the far end of the farthest read."""
    thread: Triple
    """That made it; of several the first, by block and thread."""
    block: Triple
    address: int
    size: int

    @property
    def where(self) -> Location:
        """The source line of the reading instruction, as far as its debug information says."""
        return location_of(self.origin)

    def message(self, arena: Arena) -> str:
        """The farthest read, as a fault would say it."""
        return describe_access(arena, self.address, self.size, 1, False)[1]

    @property
    def reach(self) -> str:
        """How far beyond what: ``up to 8192 bytes before the start of 'image' (65536 bytes)``."""
        side = "before the start" if self.before else "past the end"
        return f"up to {plural(self.farthest, 'byte')} {side} of '{readable(self.buffer.name)}' ({plural(self.buffer.size, 'byte')})"


def buffer_overread(arena: Arena, address: int, size: int) -> tuple[Buffer, bool, int] | None:
    """The buffer that a read of ``size`` bytes misses, at least in part; whether it lies before it; and how many bytes from it
    the read's far end is. None for a read inside a buffer, or one that is a fault."""
    buffer = arena.find(address) or arena.nearest(address)
    if buffer is None or not buffer.size:
        return None
    before, after = max(buffer.address - address, 0), max(address + size - buffer.end, 0)
    if before > GAP or after > GAP or not (before or after):
        return None
    return buffer, before > 0, before or after
