"""Device memory at the addresses of an arena, so that pointers inside recorded buffers stay valid on a real GPU.

    with gpu.memory() as memory:
        memory.place([(address, data), ...])
        gpu.launch(loaded, replace(launch, parameters=memory.moved(launch.parameters)))
        after = memory.contents()

The driver's virtual memory calls give the very addresses wanted where they are free. Where they are not, buffers lie
elsewhere: ``moved`` then changes the pointers among a kernel's arguments, ``is_moved`` says so, and pointers inside buffers
are not followed.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from types import TracebackType

from kernelwright.device.arena import GAP
from kernelwright.device.real_gpu.driver import Driver, DriverError
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Device memory of ours: where it was wanted, where it is."""

    wanted: int
    address: int
    size: int
    handle: int
    """Of the driver's virtual memory; 0 for a plain allocation."""


class CudaMemory:
    """Buffers of one replay. Use it as a context manager, or ``close`` it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._ranges: list[Range] = []
        self._buffers: list[tuple[int, int]] = []
        self._kept: list[tuple[int, int, int]] = []
        self.is_moved = False

    def place(self, buffers: Sequence[tuple[int, bytes]]) -> None:
        """Takes memory for buffers, each (address, content), and writes them. Raises ``DeviceError`` for lack of room."""
        self._buffers = [(address, len(data)) for address, data in buffers]
        try:
            for low, high in self._spans():
                self._ranges.append(self._at(low, high - low))
        except DriverError:
            self._plainly()
        for address, data in buffers:
            if data:
                held = (ctypes.c_char * len(data)).from_buffer_copy(data)
                self._driver.write(self.where(address), ctypes.addressof(held), len(data))

    def keep(self) -> tuple[tuple[int, int, int], ...]:
        """Copies every buffer aside on the GPU; returns what restores them: (to, from, bytes), as ``Work.restore`` takes it."""
        for address, size in self._buffers:
            if size:
                aside = self._driver.allocate(size)
                self._driver.copy(aside, self.where(address), size)
                self._kept.append((self.where(address), aside, size))
        return tuple(self._kept)

    def contents(self) -> dict[int, bytes]:
        """Every buffer's bytes, by the address it was wanted at."""
        found = {}
        for address, size in self._buffers:
            held = (ctypes.c_char * max(size, 1))()
            if size:
                self._driver.read(ctypes.addressof(held), self.where(address), size)
            found[address] = held.raw[:size]
        return found

    def where(self, address: int) -> int:
        """Where a wanted address is."""
        for each in self._ranges:
            if each.wanted <= address <= each.wanted + each.size:
                return each.address + address - each.wanted
        return address

    def moved(self, parameters: bytes) -> bytes:
        """A parameter buffer with its pointers made right."""
        if not self.is_moved:
            return parameters
        found = bytearray(parameters)
        for offset in range(0, len(parameters) - 7, 8):
            (value,) = struct.unpack_from("<Q", parameters, offset)
            if any(start <= value <= start + size for start, size in self._buffers):
                struct.pack_into("<Q", found, offset, self.where(value))
        return bytes(found)

    def close(self) -> None:
        """Gives everything back, as far as the context still lives."""
        try:
            for _, aside, _ in self._kept:
                self._driver.free(aside)
            for each in self._ranges:
                if each.handle:
                    self._driver.unmap(each.address, each.size, each.handle)
                else:
                    self._driver.free(each.address)
        except DriverError as error:
            if not error.is_sticky:
                raise
        self._kept, self._ranges, self._buffers = [], [], []

    def _spans(self) -> list[tuple[int, int]]:
        """What the driver has to map: the buffers, rounded to its granularity, neighbours together; and what lies so close to
        one that the virtual GPU lets reads pass there."""
        unit = self._driver.granularity()
        spans: list[tuple[int, int]] = []
        for address, size in sorted(self._buffers):
            low = max(address - GAP, 0) // unit * unit
            high = -(-(address + max(size, 1) + GAP) // unit) * unit
            if spans and low <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(high, spans[-1][1])
            else:
                spans.append((low, high))
        return spans

    def _at(self, address: int, size: int) -> Range:
        got, handle = self._driver.map_at(address, size)
        if not handle:
            raise DriverError(
                2, "OUT_OF_MEMORY", f"address {address:#x} is taken, {got:#x} was free", "cuMemAddressReserve"
            )
        return Range(address, address, size, handle)

    def _plainly(self) -> None:
        for each in self._ranges:
            self._driver.unmap(each.address, each.size, each.handle)
        self.is_moved = True
        self._ranges = [Range(a, self._driver.allocate(max(n, 1)), n, 0) for a, n in self._buffers]

    def __enter__(self) -> CudaMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
