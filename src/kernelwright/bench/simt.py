"""The virtual GPU against PoCL: the same kernels on the same inputs, one thread each, in one run.

Ours counts instructions, sectors and conflicts and checks every bound; PoCL does neither. Times are processor time of this
process, from the launch to its end; results of both are compared. Both run the code they make for long runs: ours begins
with code that is sooner made. Promises: geometric mean at most 1.0 of PoCL's time, no kernel above 2.5; making a kernel
runnable takes at most 30 ms for 150 IR instructions and 150 ms for 900; ``as a variant``: one that has its vector operations in
common with kernels before.
"""

from __future__ import annotations

import math
import os
import statistics
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.bench.result import Measured, Say
from kernelwright.bench.simt_case import Array, Case, Scalar, Step, cases_of
from kernelwright.bench.simt_cores import measure_cores
from kernelwright.codegen.simt.launching.compiled_kernel import compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load as load_module
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load

BEST = SimtOptions(level=1)
"""The code of kernels that have run for a while."""
SOURCES = Path(__file__).parent / "simt_kernels"


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("simt")
    ours = Ours()
    theirs = pocl_on(1, result)
    ratios = []
    cases = cases_of(quick)
    for case in cases:
        say(case.name)
        row, ratio = _row(case, ours, theirs, 3 if quick else 15)
        result.rows.append(row)
        if ratio is not None:
            ratios.append(ratio)
    measure_cores(result, cases, quick, say)
    say("code generation")
    small, large = _code_generation(result, 3 if quick else 7)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
    result.at_most("geometric mean of our time over PoCL's", mean, 1.0)
    result.at_most("largest of our times over PoCL's", max(ratios) if ratios else None, 2.5)
    result.at_most("ms to make 150 IR instructions runnable", small, 30)
    result.at_most("ms to make 900 IR instructions runnable", large, 150)
    return result


def _row(case: Case, ours: Ours, theirs: _Pocl | None, repeat: int) -> tuple[dict[str, Any], float | None]:
    runs: dict[str, Callable[[], float]] = {"ours": ours.prepared(case)}
    if theirs:
        runs["PoCL"] = theirs.prepared(case)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            times[name].append(run())
    best = {name: statistics.median(values) for name, values in times.items()}
    row: dict[str, Any] = {"kernel": case.name, "ours ms": round(1000 * best["ours"], 2)}
    row["PoCL ms"] = round(1000 * best["PoCL"], 2) if theirs else None
    ratio = best["ours"] / best["PoCL"] if theirs else None
    row["ours / PoCL"] = round(ratio, 2) if ratio else None
    row["results"] = _agreement(case, ours.results(case), theirs.results(case)) if theirs else "not compared"
    return row, ratio


def _agreement(case: Case, a: dict[str, Array], b: dict[str, Array]) -> str:
    worst = 0.0
    for name in case.compared:
        x, y = a[name].astype(np.float64), b[name].astype(np.float64)
        worst = max(worst, float(np.max(np.abs(x - y))) / (float(np.max(np.abs(y))) or 1.0))
    if worst > case.tolerance:
        raise RuntimeError(f"{case.name}: the two results differ by {worst:g}")
    return "equal" if worst == 0 else f"within {worst:.0e}"


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


class _Pocl:
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
        found = {}
        for name in case.compared:
            found[name] = np.empty_like(case.arrays[name]).ravel()
            self.cl.enqueue_copy(self.queue, found[name], self._buffers[case.name][name])
        return found


def _number(value: Scalar) -> np.generic:
    return np.int32(value) if isinstance(value, int) else np.float32(value)


def pocl_on(cores: int | None, result: Measured) -> _Pocl | None:
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
    return _Pocl(cl, cl.Context(platforms[0].get_devices()), platforms[0].version)


def _code_generation(result: Measured, repeat: int) -> tuple[float, float]:
    """Milliseconds from IR text to a runnable kernel, for 150 and for 900 instructions, in proportion from two kernels."""
    figures = []
    for name, kernel, block in (("hotspot", "advance", (16, 16, 1)), ("heartwall", "", (256, 1, 1))):
        program = load(name)
        unit = compile_program(program.source_paths[0]).units[0]
        found = max(
            (k for k in unit.module.kernels if kernel in k.name),
            key=lambda k: sum(len(b.instructions) for b in k.blocks),
        )
        count = sum(len(b.instructions) for b in found.blocks)
        times: dict[int | None, list[float]] = {None: [], 0: [], BEST.level: []}
        for level, taken in times.items():
            for _ in range(repeat):
                module = parse_module(unit.optimised)
                begin = time.process_time()
                compile_host(lower(module, found.name, SimtOptions(block=block, level=level)))
                taken.append(1000 * (time.process_time() - begin))
        first, variant, best = (statistics.median(taken) for taken in times.values())
        figures.append((count, first))
        row = {
            "made runnable": name,
            "IR instructions": count,
            "ms": round(first, 1),
            "as a variant ms": round(variant, 1),
            "for long runs ms": round(best, 1),
        }
        result.rows.append(row)
    (small_count, small), (large_count, large) = figures
    return small * 150 / small_count, large * 900 / large_count
