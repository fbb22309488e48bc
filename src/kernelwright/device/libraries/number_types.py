"""Types of numbers in device memory: how they lie there, and what they are computed in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.lazy_dataclasses import dataclass

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NumberType:
    """``storage``: NumPy's type of the bytes; ``compute``: of a computation with them; ``pipe``: what does that on a GPU
    (``target.PIPES``); ``weight``: instructions of that pipe for one multiply-add."""

    name: str
    storage: Any
    compute: Any
    pipe: str
    weight: float = 1.0

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return int(np.dtype(self.storage).itemsize)

    def load(self, stored: Array) -> Array:
        """Numbers as they are computed with; the memory itself where that is the same."""
        if self is BF16:
            return np.left_shift(stored.astype(np.uint32), 16).view(np.float32)
        return stored.astype(self.compute, copy=False)

    def round(self, values: Array) -> Array:
        """Numbers as they lie in memory, rounded to nearest even."""
        if self is not BF16:
            return values.astype(self.storage, copy=False)
        bits = np.asarray(values, np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + (np.right_shift(bits, 16) & 1)) >> 16
        return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)


F32 = NumberType("float", np.float32, np.float32, "fma")
F64 = NumberType("double", np.float64, np.float64, "fp64")
C64 = NumberType("cuComplex", np.complex64, np.complex64, "fma", 4.0)
C128 = NumberType("cuDoubleComplex", np.complex128, np.complex128, "fp64", 4.0)
F16 = NumberType("__half", np.float16, np.float32, "fp16", 0.5)
BF16 = NumberType("__nv_bfloat16", np.uint16, np.float32, "fp16", 0.5)
I8 = NumberType("signed char", np.int8, np.float64, "imad", 0.25)
I32 = NumberType("int", np.int32, np.int32, "imad")
I64 = NumberType("long long", np.int64, np.int64, "imad", 2.0)
U32 = NumberType("unsigned int", np.uint32, np.uint32, "imad")
U64 = NumberType("pointer", np.uint64, np.uint64, "imad")

BY_LETTER: dict[str, NumberType] = {"S": F32, "D": F64, "C": C64, "Z": C128, "H": F16}
"""By the letter in a routine's name."""

REAL_PART: dict[str, NumberType] = {F32.name: F32, F64.name: F64, C64.name: F32, C128.name: F64}
"""The type of a type's absolute values, by its name."""

BY_NUMBER: dict[int, NumberType] = {0: F32, 1: F64, 2: F16, 3: I8, 4: C64, 5: C128, 10: I32, 14: BF16}
"""By its number in enum cudaDataType."""
