"""NumPy arrays as buffers of a device: memory that arguments share is one buffer, and comes back into the arrays themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.device.arena import Arena
from kernelwright.device.arguments import Value
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Array = npt.NDArray[Any]
Argument = Array | Value | None
"""An array, or ``None`` for the null pointer; a number; bytes or a structured scalar for a struct passed by value."""


@dataclass
class Span:
    """A stretch of this process's memory that arguments lie in, and where it is on the device."""

    start: int
    end: int
    arrays: list[Array]
    address: int = 0

    def place(self, arena: Arena, name: str) -> None:
        """Copies the stretch to a buffer of its own."""
        is_writable = any(a.flags.writeable for a in self.arrays)
        buffer = arena.allocate(self.end - self.start, name, writable=is_writable, fill=None)
        self.address = buffer.address
        for array in self.arrays:
            self._on_device_bytes(arena, array)[:] = _bytes(array)

    def fetch(self, arena: Arena) -> None:
        """Copies back what a kernel may have written."""
        for array in self.arrays:
            if array.flags.writeable:
                _bytes(array)[:] = self._on_device_bytes(arena, array)

    def on_device(self, array: Array) -> int:
        """The device address of the first byte of an array that lies in this stretch."""
        return self.address + _start(array) - self.start

    def _on_device_bytes(self, arena: Arena, array: Array) -> npt.NDArray[np.uint8]:
        return np.frombuffer(arena.bytes(self.on_device(array), array.nbytes), np.uint8)


def spans_of(arrays: Sequence[Array]) -> list[Span]:
    """The arrays' memory in disjoint stretches, in the order of their first argument; empty arrays have none.

    Raises ``Misuse`` for arrays that cannot go to a device as they are.
    """
    for array in arrays:
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise Misuse(
                f"an array of shape {array.shape} is not contiguous", hint="give numpy.ascontiguousarray(array)"
            )
        if array.dtype.hasobject or not array.dtype.isnative:
            raise Misuse(
                f"an array of {array.dtype} cannot go to a device", hint="give an array of this machine's numbers"
            )
    spans: list[Span] = []
    for array in (a for a in arrays if a.nbytes):
        merged = Span(_start(array), _start(array) + array.nbytes, [array])
        for other in [s for s in spans if s.start < merged.end and merged.start < s.end]:
            spans.remove(other)
            merged = Span(min(other.start, merged.start), max(other.end, merged.end), [*other.arrays, *merged.arrays])
        spans.append(merged)
    return spans


def value_of(argument: Argument, spans: Sequence[Span]) -> Value:
    """An argument as it is packed: an array as its address on the device."""
    if argument is None:
        return 0
    if not isinstance(argument, np.ndarray):
        return argument
    at = _start(argument)
    return next((s.on_device(argument) for s in spans if s.start <= at < s.end), 0)


def _start(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _bytes(array: Array) -> npt.NDArray[np.uint8]:
    return array.reshape(-1, order="A").view(np.uint8)
