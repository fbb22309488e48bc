"""Memory as a program has it: what it allocated on the device, how much there is, and rows of bytes inside."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from kernelwright.cuda.wire.protocol import Copy, Fill, MemoryKind
from kernelwright.device.arena import POISON, Arena
from kernelwright.device.serving.errors import CudaError, Refused
from kernelwright.device.serving.memory_capacity import capacity_bytes
from kernelwright.device.settings import Settings
from kernelwright.errors import DeviceError

POISON_UP_TO = 256 << 20
"""Bytes. Larger buffers begin as zeros in any case, which cost nothing until they are used."""
COMMITTED_UP_TO = 256 << 20
"""Bytes. Of larger buffers programs may use a small part only: they are committed as they are used."""
COMMITTED_IN_ALL = 1 << 30
"""Bytes that are committed before they are used, freed ones included, and at most ``COMMITTED_SHARE`` of the memory there is: what a
program allocates and does not use costs a fifth of a second, however often it does."""
COMMITTED_SHARE = 0.25
_KINDS = {MemoryKind.DEVICE: "device", MemoryKind.PINNED: "pinned", MemoryKind.MANAGED: "managed"}

Note = Callable[[int, int, bool], None]
"""Told of each range of bytes that was read, or (True) written."""


class Allocations:
    """The allocations of one program on one device in ``arena``, within what the settings and the machine allow. New memory is zero, as a
    GPU clears it before a process gets it; ``marked``: it holds 0xCD, which shows."""

    def __init__(self, arena: Arena, settings: Settings, marked: bool = False) -> None:
        self._arena = arena
        self._marked = marked
        self._gpu = settings.gpu
        self._capacity = capacity_bytes(settings.gpu.memory_bytes, settings.memory_bytes, settings.gpus)
        self._whose = " of device {}" if settings.gpus > 1 else ""
        self.start_over()

    def start_over(self) -> None:
        """Nothing is allocated any more; the arena is reset elsewhere."""
        self._arena.host_writes = any(buffer.is_shared for buffer in self._arena.buffers)
        self._sizes: dict[int, int] = {}
        self._count = 0
        self._used = 0
        self._may_commit = min(COMMITTED_IN_ALL, int(self._capacity * COMMITTED_SHARE))

    @property
    def free_bytes(self) -> int:
        """Bytes that ``allocate`` still gives; sizes count as asked for, without the gaps between buffers."""
        return max(self._capacity - self._used, 0)

    def allocate(self, size: int, kind: int) -> int:
        """The address of ``size`` new bytes. Raises ``Refused`` when there is no room."""
        if size > self.free_bytes:
            raise Refused(CudaError.MEMORY_ALLOCATION, self._no_room(size))
        is_shared = kind != MemoryKind.DEVICE
        fill = POISON if self._marked and size <= POISON_UP_TO and not is_shared else None
        name = f"{_KINDS[MemoryKind(kind)]} allocation {self._count + 1}{self._whose.format(self._arena.device)}"
        try:
            buffer = self._arena.allocate(size, name, fill=fill, is_shared=is_shared)
        except DeviceError as error:
            raise Refused(CudaError.MEMORY_ALLOCATION, error.message) from None
        if size <= min(COMMITTED_UP_TO, self._may_commit):
            self._arena.commit(buffer.address, size)
            self._may_commit -= size
        self._arena.host_writes |= is_shared
        self._count += 1
        self._sizes[buffer.address] = size
        self._used += size
        return buffer.address

    def free(self, address: int) -> None:
        """Raises ``Refused`` for what is not the start of an allocation, saying what it is instead."""
        buffer = self._arena.find(address)
        if buffer is not None and buffer.address == address and address not in self._sizes:
            raise Refused(CudaError.INVALID_VALUE, f"'{buffer.name}' is a variable, and cannot be freed")
        try:
            self._arena.free(address)
        except DeviceError as error:
            raise Refused(CudaError.INVALID_VALUE, error.message) from None
        self._used -= self._sizes.pop(address)

    def fill(self, box: Fill, note: Note) -> None:
        """Raises ``Refused`` for rows that leave their buffer; rows before those are filled."""
        for row in range(box.height):
            address = box.address + row * box.pitch
            self._check(address, box.width)
            ctypes.memset(address, box.value & 0xFF, box.width)
            note(address, box.width, True)

    def copy(self, box: Copy, note: Note) -> None:
        """Raises ``Refused`` for rows that leave their buffer; rows before those are copied."""
        for z in range(box.depth):
            for y in range(box.height):
                to = box.to + z * box.to_slice + y * box.to_pitch
                start = box.from_ + z * box.from_slice + y * box.from_pitch
                self._check(to, box.width)
                self._check(start, box.width)
                ctypes.memmove(to, start, box.width)
                note(start, box.width, False)
                note(to, box.width, True)

    def _check(self, address: int, size: int) -> None:
        """What the program sends is not to reach memory of this process that is no device memory."""
        buffer = self._arena.find(address)
        if buffer is None or address + size > buffer.end:
            raise Refused(CudaError.INVALID_VALUE, f"{size} bytes at {address:#x} are no allocation of the device")

    def _no_room(self, size: int) -> str:
        owner = f"the {self._gpu.title}" if self._capacity == self._gpu.memory_bytes else "this machine"
        return (
            f"an allocation of {size} bytes finds no room: {owner} has {self.free_bytes} bytes left for device memory"
        )
