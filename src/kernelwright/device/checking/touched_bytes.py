"""Which bytes of device memory hold something, and which of them a launch touched: one flag byte per byte of memory.

The flags are those of ``codegen.simt.watch.Watch.written``: 1 it holds something, 2 the launch wrote it, 4 the launch read it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from kernelwright.device.arena import Arena, Buffer
from kernelwright.lazy_dataclasses import dataclass

Flags = npt.NDArray[np.uint8]
WRITTEN, STORED, READ = 1, 2, 4


@dataclass(frozen=True)
class Bytes:
    """Bytes of one buffer: ``start`` is their offset in it, ``marks`` says for each whether it belongs."""

    buffer: Buffer
    start: int
    marks: npt.NDArray[np.bool_]

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.start + len(self.marks)

    @classmethod
    def box(cls, buffer: Buffer, address: int, size: int) -> Bytes:
        """``size`` bytes from ``address``, all of them marked; they must lie in ``buffer``."""
        return cls(buffer, address - buffer.address, np.ones(size, np.bool_))

    def common(self, other: Bytes) -> int | None:
        """The address of the first byte that belongs to both; None when there is none."""
        if self.buffer.address != other.buffer.address:
            return None
        low, high = max(self.start, other.start), min(self.end, other.end)
        if low >= high:
            return None
        both = self.marks[low - self.start : high - self.start] & other.marks[low - other.start : high - other.start]
        first = int(both.argmax())
        return self.buffer.address + low + first if both[first] else None


class Touched:
    """The flags of every buffer of an arena."""

    def __init__(self) -> None:
        self._flags: dict[int, Flags] = {}

    def allocated(self, address: int, size: int, is_filled: bool) -> None:
        """Starts the flags of a new buffer, one per byte; ``is_filled``: all of its bytes count as written."""
        self._flags[address] = (np.ones if is_filled else np.zeros)(size, np.uint8)

    def freed(self, address: int) -> None:
        """Forgets the flags of the buffer at this address, if it has any."""
        self._flags.pop(address, None)

    def keep(self, buffers: Iterable[Buffer]) -> None:
        """All others are gone."""
        left = {buffer.address for buffer in buffers}
        self._flags = {address: flags for address, flags in self._flags.items() if address in left}

    def follow(self, buffers: Iterable[Buffer]) -> dict[int, Flags]:
        """The flags by address, with those of buffers that we do not know of: variables, which begin with values."""
        for buffer in buffers:
            if buffer.address not in self._flags:
                self.allocated(buffer.address, buffer.size, True)
        return self._flags

    def fill(self, arena: Arena, address: int, size: int) -> None:
        """The host, or a fill, wrote these bytes."""
        found = self._part(arena, address, size)
        if found is not None:
            found |= WRITTEN

    def copy(self, arena: Arena, to: int, start: int, size: int) -> None:
        """What was unwritten in the source is so in the target."""
        target, source = self._part(arena, to, size), self._part(arena, start, size)
        if target is not None:
            target[:] = WRITTEN if source is None else source & WRITTEN

    def unwritten(self, arena: Arena, address: int, size: int) -> int:
        """How many of these bytes hold nothing; of memory that is not followed, none."""
        found = self._part(arena, address, size)
        return 0 if found is None else int(np.count_nonzero(found & WRITTEN == 0))

    def _part(self, arena: Arena, address: int, size: int) -> Flags | None:
        buffer = arena.find(address)
        flags = self._flags.get(buffer.address) if buffer else None
        if buffer is None or flags is None:
            return None
        return flags[address - buffer.address :][:size]

    def take(self, buffers: Iterable[Buffer], flag: int) -> list[Bytes]:
        """The bytes with this flag, buffer by buffer."""
        found = []
        for buffer in buffers:
            marks = (self._flags[buffer.address] & flag) != 0
            if marks.any():
                found.append(Bytes(buffer, 0, marks))
        return found

    def clear(self) -> None:
        """A launch is over: only what holds something is still of interest."""
        for flags in self._flags.values():
            flags &= WRITTEN
