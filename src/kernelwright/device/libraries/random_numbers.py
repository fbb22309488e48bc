"""cuRAND's host interface: numbers of its distributions, though not its sequences. NumPy's Philox generator draws them.

Each call draws from a sequence of its own, which seed, type of generator, offset and the number of the call decide: a program
gets the same numbers on every run, and two generators made alike get the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelwright.device.libraries.number_types import F32, F64, U32, Array, NumberType
from kernelwright.device.libraries.routine_call import Call, Number

Draw = Callable[[np.random.Generator, int, float, float], Array]


def _integers(random: np.random.Generator, n: int, first: float, second: float) -> Array:
    return random.integers(0, 1 << 32, n, np.uint32)


def _uniform(random: np.random.Generator, n: int, first: float, second: float) -> Array:
    """Above 0 and up to 1, as cuRAND has it."""
    return 1 - random.random(n)


def _uniform_float(random: np.random.Generator, n: int, first: float, second: float) -> Array:
    return np.float32(1) - random.random(n, np.float32)


def _normal(random: np.random.Generator, n: int, mean: float, deviation: float) -> Array:
    return mean + deviation * random.standard_normal(n)


def _log_normal(random: np.random.Generator, n: int, mean: float, deviation: float) -> Array:
    return np.asarray(np.exp(_normal(random, n, mean, deviation)))


def _poisson(random: np.random.Generator, n: int, mean: float, second: float) -> Array:
    return random.poisson(mean, n)


_INSTRUCTIONS = 20
"""Of a thread for each number: an assumption, for the estimate of time."""


def _routine(draw: Draw) -> Callable[..., None]:
    def run(
        call: Call, t: NumberType, kind: int, seed: int, offset: int, number: int, address: int, n: int, first: Number,
        second: Number,
    ) -> None:  # fmt: skip
        output = call.vector("the output", address, n, 1, t, reads=False, writes=True)
        random = np.random.Generator(np.random.Philox(key=[seed, kind], counter=[0, number, offset, 0]))
        call.work(U32, _INSTRUCTIONS * n)
        output.store(draw(random, n, float(first.value(F64)), float(second.value(F64))))

    return run


RANDOM_ROUTINES: dict[str, tuple[Any, NumberType]] = {
    "curandGenerate": (_routine(_integers), U32),
    "curandGenerateUniform": (_routine(_uniform_float), F32),
    "curandGenerateUniformDouble": (_routine(_uniform), F64),
    "curandGenerateNormal": (_routine(_normal), F32),
    "curandGenerateNormalDouble": (_routine(_normal), F64),
    "curandGenerateLogNormal": (_routine(_log_normal), F32),
    "curandGenerateLogNormalDouble": (_routine(_log_normal), F64),
    "curandGeneratePoisson": (_routine(_poisson), U32),
}
"""By public name, as in ``blas_table.py``."""
