"""The two that run the kernels of ``kw bench simt``: the virtual GPU, and PoCL where it is installed."""

from __future__ import annotations

import os
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.bench.result import Measured
from kernelwright.bench.simt.cases import Array, Case, Scalar, Step
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load as load_module
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program

BEST = SimtOptions(level=1)
"""The code of kernels that have run for a while."""
SOURCES = Path(__file__).parent / "kernels"


class Ours:
    """The virtual GPU with counters and bounds checks, which it always has."""

    def __init__(self, cores: int = 1) -> None:
        self.gpu, self.arena = VirtualGpu(cores=cores), Arena()
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "kernels.cu"
            source.write_text(f'#include "{SOURCES}/cuda.h"\n#include "{SOURCES}/kernels.inc"\n')
            self.module: Module = compile_program(source).units[0].module
        self.loaded = load_module(self.module, self.arena)
        self._buffers: dict[str, dict[str, Buffer]] = {}

    def prepared(self, case: Case, clock: Callable[[], float] = time.process_time) -> Callable[[], float]:
        """A function that runs a case on fresh inputs and returns the seconds of its launches by ``clock``. It has run once, which
        compiles the kernels. Raises ``RuntimeError`` for a launch with a fault."""
        buffers = {name: self.arena.allocate(array.nbytes, name) for name, array in case.arrays.items()}
        self._buffers[case.name] = buffers
        launches = [
            Launch(s.kernel, (*s.grid, 1), (*s.block, 1), _packed(s, {n: b.address for n, b in buffers.items()}))
            for s in case.steps
        ]

        def run() -> float:
            for name, array in case.arrays.items():
                self.arena.view(buffers[name], array.dtype)[:] = array.ravel()
            begin = clock()
            for launch in launches:
                compiled = self.gpu.compile(self.loaded, launch.kernel, launch.block, BEST)
                fault = self.gpu.run(Execution(self.loaded, launch), self.arena, compiled=compiled).fault
                if fault:
                    raise RuntimeError(f"{case.name}: {fault}")
            return clock() - begin

        run()
        return run

    def spread(self, case: Case) -> float:
        """The share of a case's launches, so far, that ran on several cores."""
        kernels = {s.kernel: self.gpu.compile(self.loaded, s.kernel, (*s.block, 1), BEST) for s in case.steps}
        launches = sum(kernel.launches for kernel in kernels.values())
        return sum(kernel.spread for kernel in kernels.values()) / max(launches, 1)

    def results(self, case: Case) -> dict[str, Array]:
        """Copies of the arrays to be compared, by name, after the last run; one-dimensional."""
        found = self._buffers[case.name]
        return {n: self.arena.view(found[n], case.arrays[n].dtype).copy() for n in case.compared}


def _packed(step: Step, addresses: dict[str, int]) -> bytes:
    parameters = b""
    for argument in step.arguments:
        value = (
            struct.pack("<Q", addresses[argument])
            if isinstance(argument, str)
            else struct.pack("<i" if isinstance(argument, int) else "<f", argument)
        )
        parameters += bytes(-len(parameters) % len(value)) + value
    return parameters


class Pocl:
    """PoCL through pyopencl."""

    def __init__(self, cl: Any, context: Any, version: str) -> None:
        self.cl = cl
        self.version = version
        self.context = context
        self.queue = cl.CommandQueue(context)
        text = (SOURCES / "opencl.h").read_text() + (SOURCES / "kernels.inc").read_text()
        self.program = cl.Program(context, text).build()
        self._buffers: dict[str, dict[str, Any]] = {}

    def prepared(self, case: Case, clock: Callable[[], float] = time.process_time) -> Callable[[], float]:
        """A function that runs a case on fresh inputs and returns the seconds of its launches by ``clock``. It has run once, which
        compiles the kernels."""
        cl = self.cl
        buffers = {n: cl.Buffer(self.context, cl.mem_flags.READ_WRITE, a.nbytes) for n, a in case.arrays.items()}
        self._buffers[case.name] = buffers
        launches = []
        for step in case.steps:
            kernel = cl.Kernel(self.program, step.kernel)
            kernel.set_args(*(buffers[a] if isinstance(a, str) else _number(a) for a in step.arguments))
            (gx, gy), (bx, by) = step.grid, step.block
            launches.append((kernel, (gx * bx, gy * by), (bx, by)))

        def run() -> float:
            for name, array in case.arrays.items():
                cl.enqueue_copy(self.queue, buffers[name], np.ascontiguousarray(array))
            self.queue.finish()
            begin = clock()
            for kernel, size, local in launches:
                cl.enqueue_nd_range_kernel(self.queue, kernel, size, local)
            self.queue.finish()
            return clock() - begin

        run()
        return run

    def results(self, case: Case) -> dict[str, Array]:
        """Copies of the arrays to be compared, by name, after the last run; one-dimensional."""
        found = {}
        for name in case.compared:
            found[name] = np.empty_like(case.arrays[name]).ravel()
            self.cl.enqueue_copy(self.queue, found[name], self._buffers[case.name][name])
        return found


def _number(value: Scalar) -> np.generic:
    return np.int32(value) if isinstance(value, int) else np.float32(value)


def pocl_on(cores: int | None, result: Measured) -> Pocl | None:
    """PoCL on so many cores, or on all. The first call of a process decides."""
    # Read by PoCL when it starts.
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    if cores is not None:
        os.environ["POCL_MAX_PTHREAD_COUNT"] = str(cores)
    try:
        import pyopencl as cl
    except ImportError:
        result.notes.append("no comparison: pip install pyopencl, and Debian's pocl-opencl-icd")
        return None
    platforms = [p for p in cl.get_platforms() if "Portable" in p.name]
    if not platforms:
        result.notes.append("no comparison: PoCL is not installed (Debian: pocl-opencl-icd)")
        return None
    result.notes.append(f"compared with {platforms[0].version}")
    return Pocl(cl, cl.Context(platforms[0].get_devices()), platforms[0].version)
