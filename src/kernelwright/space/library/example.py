"""A computation together with inputs for it and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.declaration import Computation

Arrays = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Example:
    """``declare`` takes the sizes by position; ``oracle`` takes the inputs as arrays of the declared shapes and gives the outputs.

    ``sizes``: names of the sizes, with those to use when none are given.
    """

    name: str
    sizes: Mapping[str, int]
    declare: Callable[..., Computation]
    oracle: Callable[[Arrays, Mapping[str, float]], dict[str, npt.NDArray[Any]]]
    scalars: Mapping[str, float]

    def computation(self, **sizes: int) -> Computation:
        """Raises ``Misuse`` for a size that the computation does not have."""
        unknown = sorted(set(sizes) - set(self.sizes))
        if unknown:
            raise Misuse(f"{self.name} has no size {unknown[0]}", hint=f"it has {', '.join(self.sizes)}")
        return self.declare(**{**self.sizes, **sizes})

    def inputs(self, computation: Computation, seed: int) -> dict[str, npt.NDArray[np.float32]]:
        """Per array its memory, one-dimensional with gaps where strides leave some; outputs hold NaN."""
        generator = np.random.default_rng(seed)
        return {
            a.name: np.full(a.elements, np.nan, np.float32)
            if a.is_output
            else generator.uniform(-1, 1, a.elements).astype(np.float32)
            for a in computation.arrays.values()
        }

    def expected(
        self, computation: Computation, memory: Mapping[str, npt.NDArray[np.float32]]
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Per output its elements in the declared shape, computed in double precision."""
        shaped = {a.name: shaped_view(a, memory[a.name]).astype(np.float64) for a in computation.arrays.values()}
        return self.oracle(shaped, self.scalars)


def shaped_view(array: Any, memory: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The elements of an array in its declared shape."""
    strides = tuple(s * memory.itemsize for s in array.strides)
    return np.lib.stride_tricks.as_strided(memory, array.shape, strides)
