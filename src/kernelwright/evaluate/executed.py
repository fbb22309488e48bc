"""The simplest judge: run every case on the slow executor, compare the outputs, count the instructions executed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.memory import Arena, Buffer
from kernelwright.device.reference import run_reference
from kernelwright.errors import IRError, Misuse
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.workload import Argument, Case, Workload
from kernelwright.ir import Module, print_module
from kernelwright.passes.llvm import binding
from kernelwright.passes.llvm import parse as llvm_parse

Arrays = list[NDArray[Any]]


class ExecutedInstructions:
    """Judges modules by the thread instructions they execute over all cases of a workload.

    ``reference`` must be called first: its outputs are what candidates are compared with.
    """

    def __init__(self, workload: Workload, kernel: str) -> None:
        self.workload = workload
        self.kernel = kernel
        self._expected: list[Arrays] = []
        self._budget = 1 << 62

    def reference(self, module: Module) -> Ok:
        """Runs the original. Raises ``Misuse`` when it fails on its own cases."""
        cost = 0.0
        for case in self.workload.cases:
            run = self._run(module, case)
            if isinstance(run, Rejected):
                raise Misuse(
                    f"the original kernel {self.kernel} fails: {run.reason}",
                    hint="mend the kernel or its workload first",
                )
            self._expected.append(run[0])
            cost += run[1]
        # A candidate that executes twice the original's instructions is not going to be faster.
        self._budget = int(2 * cost) + 1000
        return Ok(cost, 0.0)

    def __call__(self, module: Module) -> Outcome:
        try:
            llvm_parse(print_module(module), binding().create_context())
        except IRError as refused:
            return Rejected("verify", refused.message)
        cost = error = 0.0
        for case, expected in zip(self.workload.cases, self._expected, strict=True):
            run = self._run(module, case)
            if isinstance(run, Rejected):
                return run
            error = max(error, deviation(run[0], expected))
            if not error <= self.workload.tolerance:
                return Rejected("compare", f"outputs differ by {error:g}")
            cost += run[1]
        return Ok(cost, error)

    def _run(self, module: Module, case: Case) -> tuple[Arrays, float] | Rejected:
        with Arena() as arena:
            packed, buffers = pack_arguments(case.arguments, arena)
            result = run_reference(
                module,
                self.kernel,
                triple(case.grid),
                triple(case.block),
                packed,
                arena,
                shared_bytes=case.shared_bytes,
                budget=self._budget,
            )
            if result.fault is not None:
                return Rejected("run", str(result.fault))
            return [arena.view(b, d).copy() for b, d in buffers], float(result.instructions)


def pack_arguments(arguments: Sequence[Argument], arena: Arena) -> tuple[bytes, list[tuple[Buffer, np.dtype[Any]]]]:
    """Puts arrays into ``arena`` and packs the parameter buffer, each value at its natural alignment.

    Returns the bytes and, per array, its buffer and element type. Python ``int`` counts as a 32-bit integer, ``float`` as
    a 32-bit float; NumPy scalars carry their own width.
    """
    packed = bytearray()
    buffers = []
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            buffer = arena.allocate(argument.nbytes, f"argument {number}")
            arena.view(buffer, argument.dtype)[:] = argument.ravel()
            buffers.append((buffer, argument.dtype))
            value = struct.pack("<Q", buffer.address)
        elif isinstance(argument, np.generic):
            value = argument.tobytes()
        else:
            value = struct.pack("<i" if isinstance(argument, int) else "<f", argument)
        packed += bytes(-len(packed) % len(value)) + value
    return bytes(packed), buffers


def triple(extent: tuple[int, ...]) -> tuple[int, int, int]:
    """One to three extents as CUDA's three."""
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


def deviation(found: Arrays, expected: Arrays) -> float:
    """The largest difference, relative to the largest expected value of its array; infinite for NaN against a number."""
    worst = 0.0
    for f, e in zip(found, expected, strict=True):
        if np.array_equal(f, e, equal_nan=f.dtype.kind == "f"):
            continue
        with np.errstate(all="ignore"):
            difference = np.abs(f.astype(np.float64) - e.astype(np.float64))
        scale = float(np.max(np.abs(e.astype(np.float64)))) or 1.0
        largest = float(np.max(difference)) / scale
        worst = max(worst, largest if np.isfinite(largest) else np.inf)
    return worst
