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
from numpy.typing import NDArray

from kernelwright.bench.result import Measured, Say
from kernelwright.codegen.simt.launching.compiled_kernel import compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena, Buffer
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load as load_module
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load

BEST = SimtOptions(level=1)
"""The code of kernels that have run for a while."""
SOURCES = Path(__file__).parent / "simt_kernels"

Array = NDArray[Any]
Scalar = int | float


@dataclass(frozen=True)
class Step:
    """One launch: ``arguments`` are numbers, or names of arrays of the case."""

    kernel: str
    grid: tuple[int, int]
    block: tuple[int, int]
    arguments: tuple[Scalar | str, ...]


@dataclass(frozen=True)
class Case:
    """A row of the table: arrays, the launches that work on them, and the arrays that must come out equal."""

    name: str
    arrays: dict[str, Array]
    steps: tuple[Step, ...]
    compared: tuple[str, ...]
    tolerance: float = 1e-5
    """Relative to the largest value; the two fuse multiplications and additions differently."""


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("simt")
    ours = _Ours()
    theirs = _pocl(result)
    ratios = []
    for case in _cases(quick):
        say(case.name)
        row, ratio = _row(case, ours, theirs, 3 if quick else 15)
        result.rows.append(row)
        if ratio is not None:
            ratios.append(ratio)
    say("code generation")
    small, large = _code_generation(result, 3 if quick else 7)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
    result.at_most("geometric mean of our time over PoCL's", mean, 1.0)
    result.at_most("largest of our times over PoCL's", max(ratios) if ratios else None, 2.5)
    result.at_most("ms to make 150 IR instructions runnable", small, 30)
    result.at_most("ms to make 900 IR instructions runnable", large, 150)
    return result


def _row(case: Case, ours: _Ours, theirs: _Pocl | None, repeat: int) -> tuple[dict[str, Any], float | None]:
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


class _Ours:
    """The virtual GPU with counters and bounds checks, which it always has."""

    def __init__(self) -> None:
        self.gpu, self.arena = VirtualGpu(), Arena()
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "kernels.cu"
            source.write_text(f'#include "{SOURCES}/cuda.h"\n#include "{SOURCES}/kernels.inc"\n')
            self.module: Module = compile_program(source).units[0].module
        self.loaded = load_module(self.module, self.arena)
        self._buffers: dict[str, dict[str, Buffer]] = {}

    def prepared(self, case: Case) -> Callable[[], float]:
        buffers = {name: self.arena.allocate(array.nbytes, name) for name, array in case.arrays.items()}
        self._buffers[case.name] = buffers
        launches = [
            Launch(s.kernel, (*s.grid, 1), (*s.block, 1), _packed(s, {n: b.address for n, b in buffers.items()}))
            for s in case.steps
        ]

        def run() -> float:
            for name, array in case.arrays.items():
                self.arena.view(buffers[name], array.dtype)[:] = array.ravel()
            begin = time.process_time()
            for launch in launches:
                compiled = self.gpu.compile(self.loaded, launch.kernel, launch.block, BEST)
                fault = self.gpu.run(Execution(self.loaded, launch), self.arena, compiled=compiled).fault
                if fault:
                    raise RuntimeError(f"{case.name}: {fault}")
            return time.process_time() - begin

        run()
        return run

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
    """PoCL through pyopencl, held to one thread."""

    def __init__(self, cl: Any, context: Any) -> None:
        self.cl = cl
        self.context = context
        self.queue = cl.CommandQueue(context)
        text = (SOURCES / "opencl.h").read_text() + (SOURCES / "kernels.inc").read_text()
        self.program = cl.Program(context, text).build()
        self._buffers: dict[str, dict[str, Any]] = {}

    def prepared(self, case: Case) -> Callable[[], float]:
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
            begin = time.process_time()
            for kernel, size, local in launches:
                cl.enqueue_nd_range_kernel(self.queue, kernel, size, local)
            self.queue.finish()
            return time.process_time() - begin

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


def _pocl(result: Measured) -> _Pocl | None:
    # Read by PoCL when it starts.
    os.environ.update(POCL_MAX_PTHREAD_COUNT="1", PYOPENCL_NO_CACHE="1")
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
    return _Pocl(cl, cl.Context(platforms[0].get_devices()))


def _cases(quick: bool) -> list[Case]:
    random = np.random.default_rng(1)
    scale = 4 if quick else 1
    n = (1 << 22) // scale
    x, y = random.random(n, np.float32), random.random(n, np.float32)
    m = 256 // (2 if quick else 1)
    a, b = random.random((m, m), np.float32), random.random((m, m), np.float32)
    product = {"a": a, "b": b, "c": np.zeros((m, m), np.float32)}
    starts = random.integers(1, 100_000, (1 << 16) // scale, dtype=np.int32)
    cells = 1024 // (2 if quick else 1)
    inner = 16 - 2 * 2
    tiles = -(-cells // inner)
    heat = {name: random.random((cells, cells), np.float32) for name in ("before", "power", "after")}
    return [
        Case("saxpy", {"x": x, "y": y}, (Step("saxpy", (n // 256, 1), (256, 1), (n, 2.0, "x", "y")),), ("y",)),
        Case(
            "reduction",
            {"in": x, "out": np.zeros(512, np.float32)},
            (Step("sum_blocks", (512, 1), (256, 1), ("in", "out", n)),),
            ("out",),
            1e-4,
        ),
        *(
            Case(
                f"matrix product {w}x{h}",
                product,
                (Step("multiply", (m // w, m // h), (w, h), ("a", "b", "c", m)),),
                ("c",),
            )
            for w, h in ((32, 8), (16, 16))
        ),
        _alignment(512 // (2 if quick else 1), random),
        Case(
            "HotSpot",
            heat,
            (
                Step(
                    "conduct",
                    (tiles, tiles),
                    (16, 16),
                    (2, cells, cells, "before", "power", "after", 0.01, 1.3, 0.5),
                ),
            ),
            ("after",),
        ),
        Case(
            "divergent",
            {"start": starts, "out": np.zeros(len(starts), np.float32)},
            (Step("wander", (len(starts) // 256, 1), (256, 1), ("start", "out", len(starts))),),
            ("out",),
            1e-4,
        ),
        _decomposition(256 // (2 if quick else 1), random),
        _search((1 << 16) // scale, random),
    ]


def _alignment(n: int, random: np.random.Generator) -> Case:
    scores = np.zeros((n + 1, n + 1), np.int32)
    scores[0], scores[:, 0] = -10 * np.arange(n + 1), -10 * np.arange(n + 1)
    tiles = n // 16
    steps = []
    for diagonal in range(2 * tiles - 1):
        row, col = min(diagonal, tiles - 1), max(0, diagonal - tiles + 1)
        count = row - col + 1
        steps.append(Step("align_tiles", (count, 1), (16, 1), ("similarity", "scores", n, 10, row, col)))
    arrays = {"similarity": random.integers(-4, 10, (n, n), dtype=np.int32), "scores": scores}
    return Case("Needleman-Wunsch", arrays, tuple(steps), ("scores",), 0.0)


def _decomposition(n: int, random: np.random.Generator) -> Case:
    matrix = random.random((n, n), np.float32) + np.float32(n) * np.eye(n, dtype=np.float32)
    steps = []
    for start in range(0, n, 16):
        left = (n - start) // 16 - 1
        steps.append(Step("factor_diagonal", (1, 1), (16, 1), ("matrix", n, start)))
        if left:
            steps.append(Step("solve_perimeter", (left, 1), (32, 1), ("matrix", n, start)))
            steps.append(Step("update_interior", (left, left), (16, 16), ("matrix", n, start)))
    return Case("LU decomposition", {"matrix": matrix}, tuple(steps), ("matrix",), 1e-4)


def _search(nodes: int, random: np.random.Generator) -> Case:
    degrees = random.integers(2, 10, nodes)
    first = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    arrays = {
        "first": first,
        "neighbour": random.integers(0, nodes, int(first[-1]), dtype=np.int32),
        "in_frontier": np.zeros(nodes, np.int32),
        "visited": np.zeros(nodes, np.int32),
        "reached": np.zeros(nodes, np.int32),
        "distance": np.full(nodes, -1, np.int32),
    }
    for name, value in (("in_frontier", 1), ("visited", 1), ("distance", 0)):
        arrays[name][0] = value
    grid, block = ((nodes + 255) // 256, 1), (256, 1)
    steps = []
    for depth in range(1, 9):
        frontier = ("first", "neighbour", "in_frontier", "visited", "reached")
        steps.append(Step("expand_frontier", grid, block, (nodes, *frontier)))
        settled = ("reached", "in_frontier", "visited", "distance")
        steps.append(Step("settle_reached", grid, block, (nodes, depth, *settled)))
    return Case("breadth-first search", arrays, tuple(steps), ("distance",), 0.0)


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
