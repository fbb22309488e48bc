"""cuFFT's transforms against sums written out: a matrix of powers of a root of one for each dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.libraries.routine_call import MemoryFault

from .routine_calls import Array, Memory, memory

FORWARD, INVERSE = -1, 1
TOLERANCE = {np.float32: 3e-5, np.complex64: 3e-5, np.float64: 1e-12, np.complex128: 1e-12}


def sums(values: Array, sign: int, dimensions: int) -> Array:
    """The discrete Fourier transform of the last ``dimensions`` axes, by its definition, in double precision."""
    made = values.astype(np.complex128)
    for axis in range(values.ndim - dimensions, values.ndim):
        n = values.shape[axis]
        powers = np.exp(sign * 2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
        made = np.moveaxis(np.tensordot(powers, made, (1, axis)), 0, axis)
    return made


def close(found: Array, expected: Array, numbers: int) -> None:
    tolerance = TOLERANCE[found.dtype.type]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * math.sqrt(numbers) * 10)


class Side:
    """Numbers of batch x n0 x n1 x n2 in memory, with room between them that nothing may change."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, stride: int = 1, pads: tuple[int, int] = (0, 0), gap: int = 0) -> None:  # fmt: skip
        self.shape, self.dtype = shape, dtype
        row = shape[3] + pads[1]
        plane = (shape[2] + pads[0]) * row
        self.strides = plane * stride, row * stride, stride
        self.distance = shape[1] * plane * stride + gap
        last = [n - 1 for n in shape[1:]]
        self.count = (shape[0] - 1) * self.distance + sum(n * s for n, s in zip(last, self.strides, strict=True)) + 1

    def _view(self, flat: Array) -> Array:
        steps = tuple(s * flat.itemsize for s in (self.distance, *self.strides))
        return np.ndarray(self.shape, self.dtype, flat, strides=steps)

    def put(self, m: Memory, values: Array | None = None) -> int:
        flat = np.full(self.count, 77, self.dtype)
        if values is not None:
            self._view(flat)[...] = values
        return m.put(flat)

    def get(self, m: Memory, address: int) -> Array:
        flat = m.get(address, np.empty(self.count, self.dtype)).copy()
        found = self._view(flat).copy()
        self._view(flat)[...] = 77
        assert (flat == 77).all(), "what lies between the numbers was changed"
        return found

    def words(self, address: int) -> tuple[int, ...]:
        return address, *self.strides, self.distance


def execute(m: Memory, name: str, sign: int, shape: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...]) -> Any:  # fmt: skip
    return m.call(f"cufftExec{name}", sign, *shape, *source, *target)


def values_of(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    random = np.random.default_rng(seed)
    made = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * random.standard_normal(shape)
    return made.astype(dtype)


sizes = st.integers(1, 9)
shapes = st.one_of(
    st.tuples(st.integers(1, 3), st.just(1), st.just(1), st.integers(1, 40)),
    st.tuples(st.integers(1, 3), st.just(1), sizes, sizes),
    st.tuples(st.integers(1, 2), sizes, sizes, sizes),
)
layouts = st.tuples(st.integers(1, 3), st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(0, 3))
seeds = st.integers(0, 1 << 30)
FEW = settings(max_examples=60, deadline=None)


@FEW
@given(st.sampled_from("CZ"), shapes, layouts, layouts, st.sampled_from([FORWARD, INVERSE]), seeds)
def test_complex_to_complex(letter: str, shape: Any, of: Any, to: Any, sign: int, seed: int) -> None:
    dtype = {"C": np.complex64, "Z": np.complex128}[letter]
    x = values_of(shape, dtype, seed)
    source, target = Side(shape, dtype, *of), Side(shape, dtype, *to)
    with memory() as m:
        at, to_ = source.put(m, x), target.put(m)
        execute(m, f"{letter}2{letter}", sign, shape, source.words(at), target.words(to_))
        close(target.get(m, to_), sums(x, sign, 3), math.prod(shape[1:]))
        np.testing.assert_array_equal(source.get(m, at), x)
        execute(m, f"{letter}2{letter}", sign, shape, source.words(at), source.words(at))  # in place
        close(source.get(m, at), sums(x, sign, 3), math.prod(shape[1:]))


@FEW
@given(st.sampled_from(["R2C", "D2Z"]), shapes, layouts, layouts, seeds)
def test_real_to_complex_and_back(name: str, shape: Any, of: Any, to: Any, seed: int) -> None:
    real, complex_ = {"R2C": (np.float32, np.complex64), "D2Z": (np.float64, np.complex128)}[name]
    x = values_of(shape, real, seed)
    half = (*shape[:3], shape[3] // 2 + 1)
    source, target = Side(shape, real, *of), Side(half, complex_, *to)
    with memory() as m:
        at, to_ = source.put(m, x), target.put(m)
        execute(m, name, FORWARD, shape, source.words(at), target.words(to_))
        close(target.get(m, to_), sums(x, FORWARD, 3)[..., : half[3]], math.prod(shape[1:]))
        back = source.put(m)
        execute(m, {"R2C": "C2R", "D2Z": "Z2D"}[name], INVERSE, shape, target.words(to_), source.words(back))
        numbers = math.prod(shape[1:])
        close(source.get(m, back) / real(numbers), x, numbers)  # not normalised


def test_what_is_read_written_and_counted() -> None:
    side = Side((2, 1, 1, 8), np.complex64, gap=4)
    with memory() as m:
        at, to = side.put(m, values_of(side.shape, np.complex64, 1)), side.put(m)
        call = execute(m, "C2C", FORWARD, side.shape, side.words(at), side.words(to))
        assert call.reads == [(at, 64), (at + 96, 64)]
        assert call.writes == [(to, 64), (to + 96, 64)]
        assert call.instructions == {"fma": 2 * 2.5 * 8 * 3}
        whole = Side((3, 2, 4, 8), np.complex64)
        at = whole.put(m)
        call = execute(m, "C2C", FORWARD, whole.shape, whole.words(at), whole.words(at))
        assert call.writes == [(at, 3 * 2 * 4 * 8 * 8)]


@pytest.mark.parametrize(
    "name, shape, told",
    [
        ("C2C", (1, 1, 1, 9), "idata, an array of 1 x 1 x 1 x 9 cuComplex, takes 72 bytes at offset 0 of"),
        ("R2C", (1, 1, 1, 15), "odata, an array of 1 x 1 x 1 x 8 cuComplex, takes 64 bytes at offset 0 of"),
    ],
)
def test_data_outside_device_memory(name: str, shape: tuple[int, ...], told: str) -> None:
    side = Side(shape, np.complex64)
    with memory() as m:
        at, to = m.put(np.zeros(8, np.complex64)), m.put(np.zeros(7, np.complex64))
        with pytest.raises(MemoryFault) as fault:
            execute(m, name, FORWARD, shape, side.words(at), side.words(to))
        assert fault.value.message.startswith(told)
