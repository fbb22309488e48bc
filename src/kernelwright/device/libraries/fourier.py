"""cuFFT's transforms, by NumPy's pocketfft: of one to three dimensions, in batches, without a factor in either direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import C64, C128, REAL_PART, NumberType
from kernelwright.device.libraries.routine_call import Call
from kernelwright.lazy_dataclasses import dataclass

_FORWARD = -1
"""CUFFT_FORWARD."""


@dataclass(frozen=True)
class Side:
    """Where the numbers of one side lie: from one to the next in each dimension, the batch first."""

    address: int
    strides: tuple[int, ...]


def complex_to_complex(call: Call, t: NumberType, sign: int, *where: int) -> None:
    """Y[k] = sum over j of X[j] exp(sign 2 pi i j k / n)"""
    shape, source, target = _places(where)
    given = call.array("idata", source.address, shape, source.strides, t)
    into = call.array("odata", target.address, shape, target.strides, t, reads=False, writes=True)
    _note_work(call, t, shape, 1.0)
    axes = _axes(shape)
    if sign == _FORWARD:
        into.store(np.fft.fftn(given.load(), axes=axes))
    else:
        into.store(np.fft.ifftn(given.load(), axes=axes, norm="forward"))


def real_to_complex(call: Call, t: NumberType, sign: int, *where: int) -> None:
    """The first n / 2 + 1 of the innermost dimension: the others are their conjugates"""
    shape, source, target = _places(where)
    given = call.array("idata", source.address, shape, source.strides, REAL_PART[t.name])
    into = call.array("odata", target.address, _half(shape), target.strides, t, reads=False, writes=True)
    _note_work(call, t, shape, 0.5)
    into.store(np.fft.rfftn(given.load(), axes=_axes(shape)))


def complex_to_real(call: Call, t: NumberType, sign: int, *where: int) -> None:
    """From the first n / 2 + 1 of the innermost dimension"""
    shape, source, target = _places(where)
    given = call.array("idata", source.address, _half(shape), source.strides, t)
    into = call.array("odata", target.address, shape, target.strides, REAL_PART[t.name], reads=False, writes=True)
    _note_work(call, t, shape, 0.5)
    axes = _axes(shape)
    into.store(np.fft.irfftn(given.load(), s=[shape[axis] for axis in axes], axes=axes, norm="forward"))


def _places(where: tuple[int, ...]) -> tuple[tuple[int, ...], Side, Side]:
    """The transforms' shape, batch first, and both sides. ``where``: the batch, three dimensions, and for each side an address,
    three strides and the distance of transforms."""

    def side(address: int, *strides: int) -> Side:
        return Side(address, (strides[3], *strides[:3]))

    return where[:4], side(*where[4:9]), side(*where[9:14])


def _half(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Of the complex side of real numbers."""
    return (*shape[:-1], shape[-1] // 2 + 1)


def _axes(shape: tuple[int, ...]) -> list[int]:
    """Those that are transformed; the innermost always is, and comes last."""
    return [axis for axis in (1, 2) if shape[axis] > 1] + [3]


def _note_work(call: Call, t: NumberType, shape: tuple[int, ...], share: float) -> None:
    """5 n log2 n operations, the figure that transforms are compared by, half of them multiply-adds of reals."""
    one = math.prod(shape[1:])
    call.work(REAL_PART[t.name], share * shape[0] * 2.5 * one * math.log2(max(one, 2)))


FOURIER_ROUTINES: dict[str, tuple[Any, NumberType]] = {
    "cufftExecC2C": (complex_to_complex, C64),
    "cufftExecR2C": (real_to_complex, C64),
    "cufftExecC2R": (complex_to_real, C64),
    "cufftExecZ2Z": (complex_to_complex, C128),
    "cufftExecD2Z": (real_to_complex, C128),
    "cufftExecZ2D": (complex_to_real, C128),
}
"""By public name, as in ``blas_table.py``. The type is that of the complex side."""
