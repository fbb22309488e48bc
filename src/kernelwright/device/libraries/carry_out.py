"""A library's routine by its public name, carried out on device memory.

    call = carry_out("cublasSgemm_v2", arguments, arena, stream, gpu)
    call.answers, call.time_us

NumPy computes: its OpenBLAS is the same library that SciPy has (docs/decisions/0026).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelwright.cuda.wire.protocol import Argument
from kernelwright.device.arena import Arena
from kernelwright.device.libraries.blas_table import BLAS_ROUTINES
from kernelwright.device.libraries.dense.table import DENSE_ROUTINES
from kernelwright.device.libraries.fourier import FOURIER_ROUTINES
from kernelwright.device.libraries.random_numbers import RANDOM_ROUTINES
from kernelwright.device.libraries.roofline import estimate
from kernelwright.device.libraries.routine_call import Call
from kernelwright.device.libraries.sparse.table import SPARSE_ROUTINES
from kernelwright.target import Gpu

_TABLES = (BLAS_ROUTINES, RANDOM_ROUTINES, FOURIER_ROUTINES, SPARSE_ROUTINES, DENSE_ROUTINES)


class NoRoutine(Exception):
    """A name that is no routine's."""


def carry_out(name: str, arguments: Sequence[Argument], arena: Arena, stream: int, gpu: Gpu) -> Call:
    """Raises ``NoRoutine``; ``MemoryFault`` for operands outside device memory, with nothing computed of the matrix concerned."""
    public = name.removesuffix("_v2")
    found = next((table[public] for table in _TABLES if public in table), None)
    if found is None:
        raise NoRoutine(public)
    run, type = found
    call = Call(public, arena, stream)
    # Overflow and division by zero give infinities, as on a GPU.
    with np.errstate(all="ignore"):
        run(call, type, *call.arguments(arguments))
    estimate(call, gpu)
    return call
