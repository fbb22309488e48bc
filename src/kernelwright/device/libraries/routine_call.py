"""One call of a library: its arguments, the device memory that they name, and what was read, written and computed.

    a = call.matrix("A", address, rows, columns, ld, F32)          column-major, as cuBLAS has it
    c = call.matrix("C", address, rows, columns, ld, F32, reads=False, writes=True)
    c.store(a.load())

Memory is checked before anything is computed: what does not lie in one buffer raises ``MemoryFault``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from kernelwright.cuda.wire.protocol import Argument, ArgumentKind
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.libraries.number_types import Array, NumberType
from kernelwright.lazy_dataclasses import dataclass

PIECES = 1024
"""Pieces of memory that an operand is noted in; one that has more is noted as the whole from its first byte to its last."""
ANSWER_BYTES = 40


class MemoryFault(Exception):
    """An operand that does not lie in device memory. ``kind`` is that of ``device.fault``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass
class Operand:
    """Numbers in device memory: ``stored`` is the memory itself, in the shape that the routine gives it."""

    type: NumberType
    stored: Array

    def load(self) -> Array:
        """As they are computed with. A copy, or the memory itself: not to be written."""
        return self.type.load(self.stored)

    def store(self, values: Array) -> None:
        """Rounded; of complex values a real operand takes the real part."""
        real = np.iscomplexobj(values) and not np.iscomplexobj(self.stored)
        self.stored[...] = self.type.round(values.real if real else values)


@dataclass
class Number:
    """One number of the host or of the device."""

    call: Call
    name: str
    argument: Argument

    def value(self, type: NumberType) -> Any:
        """As it is computed with."""
        return self.values(type, 1)[0]

    def values(self, type: NumberType, count: int) -> Array:
        """``count`` numbers from the same place, as they are computed with: shape (count,)."""
        if self.argument.kind == ArgumentKind.DEVICE:
            return self.call.vector(self.name, self.argument.word, count, 1, type).load()
        return type.load(np.frombuffer(self.argument.value, type.storage, count))

    def answer(self, value: Any, type: NumberType) -> None:
        """Rounds a result to ``type`` and writes it to device memory, or puts it among the answers that the host gets."""
        stored = type.round(np.asarray([value], type.compute))
        if self.argument.kind == ArgumentKind.DEVICE:
            self.call.vector(self.name, self.argument.word, 1, 1, type, reads=False, writes=True).stored[...] = stored
        else:
            self.call.answers.append(stored.tobytes().ljust(ANSWER_BYTES, b"\0"))


@dataclass
class Call:
    """A routine by its public name, and what it did."""

    name: str
    arena: Arena
    stream: int = 0
    reads: list[tuple[int, int]] = field(default_factory=list)
    """Address and bytes of each piece of memory."""
    writes: list[tuple[int, int]] = field(default_factory=list)
    instructions: dict[str, float] = field(default_factory=dict)
    """Of single threads, by pipe of the GPU."""
    answers: list[bytes] = field(default_factory=list)
    """What the host is to get, in the order of the arguments."""
    time_us: float = 0.0
    """An estimate (``roofline.py``), without what launching costs."""
    launch_us: float = 0.0
    bound_by: str = "memory"
    """``memory``, or the pipe that its arithmetic runs on."""

    def arguments(self, given: Sequence[Argument]) -> list[Any]:
        """As a routine takes them: integers and addresses as numbers, the others as ``Number``."""
        return [
            _signed(a.word) if a.kind == ArgumentKind.WORD else Number(self, f"argument {n + 1}", a)
            for n, a in enumerate(given)
        ]

    def work(self, type: NumberType, multiply_adds: float) -> None:
        """Notes what a GPU would compute."""
        self.instructions[type.pipe] = self.instructions.get(type.pipe, 0.0) + multiply_adds * type.weight

    # -- memory ----------------------------------------------------------------------------------------------------

    def vector(
        self, name: str, address: int, n: int, step: int, type: NumberType, reads: bool = True, writes: bool = False
    ) -> Operand:
        """``n`` numbers, ``step`` apart; with a negative step the first is the last in memory, as in BLAS."""
        span = (max(n, 1) - 1) * abs(step) + 1
        what = f"a vector of {n} {type.name}" + (f" with increment {step}" if step != 1 else "")
        memory = self._memory(name, what, address, span if n > 0 else 0, type)
        stored = memory[:: abs(step)] if step else np.broadcast_to(memory[:1], (n,)) if n > 0 else memory
        if n > 0:
            self._note(address, [(0, span)] if abs(step) <= 1 else [(i * abs(step), 1) for i in range(n)], type, reads, writes)  # fmt: skip
        return Operand(type, stored[::-1] if step < 0 else stored)

    def matrix(
        self, name: str, address: int, rows: int, columns: int, ld: int, type: NumberType, reads: bool = True,
        writes: bool = False,
    ) -> Operand:  # fmt: skip
        """``rows`` x ``columns``, column after column, ``ld`` numbers from one to the next."""
        one = self.matrices(name, address, rows, columns, ld, 0, 1, type, reads, writes)
        return Operand(type, one.stored[0])

    def matrices(
        self, name: str, address: int, rows: int, columns: int, ld: int, stride: int, count: int, type: NumberType,
        reads: bool = True, writes: bool = False,
    ) -> Operand:  # fmt: skip
        """``count`` matrices, ``stride`` numbers from one to the next: an array of count x rows x columns."""
        if not rows or not columns:
            return Operand(type, np.empty((count, rows, columns), type.storage))
        one = (columns - 1) * ld + rows
        span = (count - 1) * stride + one
        what = f"a matrix of {rows} x {columns} {type.name} with leading dimension {ld}"
        if count > 1:
            what = f"{count} matrices of {rows} x {columns} {type.name} with leading dimension {ld} and stride {stride}"
        memory = self._memory(name, what, address, span, type)
        size = type.size
        stored: Array = np.ndarray(
            (count, rows, columns), type.storage, memory, strides=(stride * size, size, ld * size)
        )
        if ld == rows and (stride in (0, one) or count == 1):
            pieces = [(0, one if stride == 0 else span)]
        elif columns * count <= PIECES:
            pieces = [(b * stride + c * ld, rows) for b in range(count) for c in range(columns)]
        else:
            pieces = [(0, span)]
        self._note(address, pieces, type, reads, writes)
        return Operand(type, stored)

    def array(
        self, name: str, address: int, shape: tuple[int, ...], strides: tuple[int, ...], type: NumberType,
        reads: bool = True, writes: bool = False,
    ) -> Operand:  # fmt: skip
        """Numbers of several dimensions, ``strides`` of them, none negative, from one to the next in each."""
        size = type.size
        what = f"an array of {' x '.join(map(str, shape))} {type.name}"
        span = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True)) + 1
        memory = self._memory(name, what, address, span, type)
        stored: Array = np.ndarray(shape, type.storage, memory, strides=tuple(stride * size for stride in strides))
        self._note(address, _runs(shape, strides, span), type, reads, writes)
        return Operand(type, stored)

    def pointers(self, name: str, address: int, count: int) -> list[int]:
        """An array of addresses in device memory."""
        from kernelwright.device.libraries.number_types import U64

        return [int(p) for p in self.vector(name, address, count, 1, U64).load()]

    def _memory(self, name: str, what: str, address: int, count: int, type: NumberType) -> Array:
        """``count`` numbers. Raises ``MemoryFault``."""
        if count <= 0:
            return np.empty(0, type.storage)
        told = f"{name}, {what},"
        size = count * type.size
        if address % type.size and address % min(type.size, 8):
            raise MemoryFault("misaligned", f"{told} at {address:#x}: not a multiple of {min(type.size, 8)}")
        buffer = self.arena.find(address)
        if buffer is None or address + size > buffer.end or not self.arena.reaches(buffer):
            raise _outside(self.arena, told, address, size, buffer)
        return np.frombuffer(self.arena.bytes(address, size), type.storage)

    def _note(
        self, address: int, pieces: list[tuple[int, int]], type: NumberType, reads: bool, writes: bool
    ) -> None:  # fmt: skip
        if len(pieces) > PIECES:
            pieces = [(pieces[0][0], pieces[-1][0] + pieces[-1][1])]
        noted = [(address + start * type.size, count * type.size) for start, count in pieces]
        if reads:
            self.reads += noted
        if writes:
            self.writes += noted


def _runs(shape: tuple[int, ...], strides: tuple[int, ...], span: int) -> list[tuple[int, int]]:
    """The start and length of each run of an array's numbers that lie side by side; the whole where they are too many."""
    run = 1
    starts = np.zeros(1, np.int64)
    for stride, n in sorted(zip(strides, shape, strict=True)):
        if len(starts) == 1 and stride == run:
            run *= n
        elif n > 1:
            if len(starts) * n > PIECES:
                return [(0, span)]
            starts = np.add.outer(np.arange(n) * stride, starts).ravel()
    return [(int(start), run) for start in starts]


def _outside(arena: Arena, told: str, address: int, size: int, buffer: Buffer | None) -> MemoryFault:
    if address == 0:
        return MemoryFault("out-of-bounds", f"{told} is null")
    if buffer is not None and not arena.reaches(buffer):
        return MemoryFault("out-of-bounds", f"{told} at {address:#x} lies in '{buffer.name}', memory of another device")
    if buffer is not None:
        past = address + size - buffer.end
        return MemoryFault(
            "out-of-bounds",
            f"{told} takes {size} bytes at offset {address - buffer.address} of '{buffer.name}', which has {buffer.size}: "
            f"{past} too many",
        )
    freed = arena.find_freed(address)
    if freed is not None:
        return MemoryFault("use-after-free", f"{told} at {address:#x} lies in '{freed.name}', which was freed")
    return MemoryFault("out-of-bounds", f"{told} at {address:#x} lies in no device memory")


def _signed(word: int) -> int:
    """Integers travel with their sign extended; addresses are below 2^63."""
    return word - (1 << 64) if word >> 63 else word
