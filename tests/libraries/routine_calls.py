"""Calls of library routines on an arena, as the wire brings them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.cuda.wire.protocol import Argument, ArgumentKind
from kernelwright.device.arena import Arena
from kernelwright.device.libraries.carry_out import carry_out
from kernelwright.device.libraries.routine_call import Call
from kernelwright.target import gpu

Array = npt.NDArray[Any]
GUARD = 64
"""Bytes after each buffer's content that must not change: it ends where they do."""


class Memory:
    """Device memory for one test. Arrays go in with ``put``, column-major with a leading dimension for matrices."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def put(self, values: Array) -> int:
        data = np.ascontiguousarray(values)
        buffer = self.arena.allocate(max(data.nbytes, 1), "operand")
        self.arena.bytes(buffer.address, data.nbytes)[:] = data.tobytes()
        return buffer.address

    def put_matrix(self, values: Array, ld: int, filler: complex = 77) -> int:
        """No more than a library may touch: the last column ends the buffer."""
        rows, columns = values.shape
        flat = np.full((max(columns - 1, 0)) * ld + rows, filler, values.dtype)
        for column in range(columns):
            flat[column * ld : column * ld + rows] = values[:, column]
        return self.put(flat)

    def put_vector(self, values: Array, step: int) -> int:
        n = len(values)
        flat = np.full(max((n - 1) * abs(step) + 1, 1), 55, values.dtype)
        flat[:: abs(step)] = values if step > 0 else values[::-1]
        return self.put(flat)

    def get(self, address: int, like: Array) -> Array:
        return np.frombuffer(bytes(self.arena.bytes(address, like.nbytes)), like.dtype).reshape(like.shape)

    def get_matrix(self, address: int, like: Array, ld: int, filler: complex = 77) -> Array:
        """Also asserts that what lies between the columns is untouched."""
        rows, columns = like.shape
        flat = self.get(address, np.empty((max(columns - 1, 0)) * ld + rows, like.dtype))
        found = np.empty_like(like)
        for column in range(columns):
            found[:, column] = flat[column * ld : column * ld + rows]
            assert (flat[column * ld + rows : (column + 1) * ld] == filler).all()
        return found

    def get_vector(self, address: int, like: Array, step: int) -> Array:
        n = len(like)
        flat = self.get(address, np.empty(max((n - 1) * abs(step) + 1, 1), like.dtype))
        between = np.ones(len(flat), bool)
        between[:: abs(step)] = False
        assert (flat[between] == 55).all()
        found: Array = flat[:: abs(step)]
        return found if step > 0 else found[::-1]

    def call(self, name: str, *given: Any) -> Call:
        """Integers are words, NumPy scalars and arrays are numbers of the host, ``Answer`` and ``On`` as they say."""
        return carry_out(name, [_argument(each) for each in given], self.arena, 0, gpu("h200"))


class On(int):
    """The address of a number on the device."""


class Answer:
    """A number that the host is to get; ``before`` is what it was."""

    def __init__(self, before: Any = None) -> None:
        self.before = np.float64(0) if before is None else before


def _argument(given: Any) -> Argument:
    if isinstance(given, On):
        return Argument(word=given, kind=ArgumentKind.DEVICE)
    if isinstance(given, Answer):
        return Argument(kind=ArgumentKind.ANSWER, size=given.before.nbytes, value=given.before.tobytes())
    if isinstance(given, np.generic | np.ndarray):
        return Argument(kind=ArgumentKind.VALUE, size=given.nbytes, value=given.tobytes())
    return Argument(word=given % (1 << 64))


def answer(call: Call, dtype: Any, which: int = 0) -> Any:
    return np.frombuffer(call.answers[which], dtype, 1)[0]


@contextmanager
def memory() -> Iterator[Memory]:
    with Arena(1 << 24) as arena:
        yield Memory(arena)


class RandomMatrices:
    """Normal numbers of a type, the same for the same seed."""

    def __init__(self, dtype: Any, seed: int) -> None:
        self.dtype = dtype
        self.random = np.random.default_rng(seed)

    def dense(self, *shape: int) -> Array:
        """Of complex types both parts are random."""
        made = self.random.standard_normal(shape)
        if np.dtype(self.dtype).kind == "c":
            made = made + 1j * self.random.standard_normal(shape)
        return made.astype(self.dtype)
