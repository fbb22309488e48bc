"""Launches estimated from a sample of their blocks, beside the same launches run whole: over the suite, and over a large grid.

Every launch of a suite program whose grid is large enough to be sampled is estimated both ways, on the memory that the program
left there; of launches alike in kernel and geometry the first few. A row is a kernel: ``compared`` launches, of which ``sampled`` had
blocks alike enough (the others run whole, and count as neither right nor wrong); ``largest`` is the largest grid of those, with the
blocks that ran; ``off %`` the farthest of their estimates. Promises: no estimate from a sample is more than 2 % off; a launch of
4,096 x 4,096 threads takes a second of processor time, compiling it left out.
"""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.cuda.names import readable
from kernelwright.device.execution import Execution
from kernelwright.device.from_python.device import Device
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.serving.run_program import run_program
from kernelwright.device.serving.worker import serve
from kernelwright.device.settings import Settings
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.launch_estimates import Timing
from kernelwright.device.virtual_gpu.sampled_launch import LEAST_GRID
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load
from kernelwright.suite.program import Size, SuiteProgram

DEVICE = "h200"
QUICK = ("hotspot", "pathfinder", "bfs")
OF_A_KIND = 3
"""Launches of one kernel and geometry that are compared."""
LIMIT_S = 60.0
"""Of a program's run: later launches are of the same kernels."""
OFF_BOUND = 2.0
SECONDS_BOUND = 1.0
SIDE = 4096
STENCIL = """
extern "C" __global__ void smooth(const float* a, float* o, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 4 * a[y * n + x];
  if (x > 0) s += a[y * n + x - 1];
  if (x < n - 1) s += a[y * n + x + 1];
  if (y > 0) s += a[(y - 1) * n + x];
  if (y < n - 1) s += a[(y + 1) * n + x];
  o[y * n + x] = s / 8;
}
"""


class Comparison(Observer):
    """Estimates launches both ways, then runs them as ever."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._seen: Counter[object] = Counter()

    def attach(self, session: Observed) -> None:
        self._timing = Timing(session.settings.gpu, session.arena, warm=False)

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched | None:
        launch = execution.launch
        x, y, z = launch.grid
        if x * y * z >= LEAST_GRID and self._seen[launch.geometry] < OF_A_KIND:
            self._seen[launch.geometry] += 1
            with contextlib.suppress(KernelwrightError):  # a launch that faults has no time either way
                self.rows.append(self._row(execution, gpu))
        return None

    def _row(self, execution: Execution, gpu: VirtualGpu) -> Row:
        launch = execution.launch
        self._timing.start_over()
        from_sample, sample = self._timing.of_sample(gpu, execution)
        row = {"kernel": readable(launch.kernel)}
        if sample is None:
            return row
        self._timing.start_over()
        whole = self._timing.of_all(gpu, execution)
        off = 100 * (from_sample.time_us / whole.time_us - 1)
        return {**row, "blocks": str(sample), "whole us": whole.time_us, "off %": off, "size": sample.blocks}


def measure(quick: bool, say: Say) -> Measured:
    """How far estimates from samples are off, in per cent of those of whole grids, and a large grid's seconds."""
    result = Measured("sampling")
    rows, launches = over_suite(quick, say)
    result.rows += rows
    off = [abs(row["off %"]) for row in launches if "off %" in row]
    result.notes.append(
        f"{len(off)} launches from samples, median {statistics.median(off or [0.0]):.2f} % off; "
        f"{len(launches) - len(off)} run whole, their blocks not being alike"
    )
    result.at_most("farthest from the whole grid, %", max(off, default=None), OFF_BOUND)
    say(f"{SIDE} x {SIDE} threads")
    row, seconds = _large()
    result.rows.append(row)
    result.at_most(f"{SIDE} x {SIDE} threads from a sample, s of processor time", seconds, SECONDS_BOUND)
    return result


def over_suite(quick: bool, say: Say) -> tuple[list[Row], list[Row]]:
    """A row for each kernel of the suite's programs, and one for each launch."""
    kernels, launches = list[Row](), list[Row]()
    for name in QUICK if quick else NAMES:
        say(name)
        rows = compared(name, "small" if quick else "large")
        launches += rows
        kernels += [{"program": name, **_of_kernel([*some])} for _, some in groupby(sorted(rows, key=_kernel), _kernel)]
    return kernels, launches


def _kernel(row: Row) -> str:
    return str(row["kernel"])


def _of_kernel(rows: list[Row]) -> Row:
    """The launches of one kernel as one row."""
    sampled = [row for row in rows if "off %" in row]
    largest = max(sampled, key=lambda row: int(row["size"]), default=None)
    return {
        "kernel": rows[0]["kernel"],
        "compared": len(rows),
        "sampled": len(sampled),
        "largest": largest["blocks"] if largest else "-",
        "whole us": round(largest["whole us"], 3) if largest else None,
        "off %": round(max(abs(row["off %"]) for row in sampled), 2) if sampled else None,
    }


def compared(name: str, size: Size) -> list[Row]:
    """The launches of one suite program's run, as far as it comes. Raises ``ToolError`` when it does not build."""
    program = load(name)
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target, work = built(program, Path(folder)), Path(folder)
        arguments = program.generate(work, size, 1)
        settings = Settings.for_device(DEVICE)

        def serve_connection(connection: socket.socket) -> bytes:
            comparison = Comparison()
            serve(connection, lambda: settings, [comparison], finish=True)
            return json.dumps(comparison.rows).encode()

        with contextlib.chdir(work), contextlib.redirect_stdout(sys.stderr):
            command = [str(target), *arguments]
            ran = run_program(command, settings, serve_connection, executable=target, limit_s=LIMIT_S)
    return [row for told in ran.results if told for row in json.loads(told)]


def built(program: SuiteProgram, folder: Path) -> Path:
    """A suite program as an executable in a folder. Raises ``ToolError`` when it does not build."""
    target = folder / "program"
    command = [sys.executable, "-m", "kernelwright", "compile", "-o", str(target), *program.flags]
    done = subprocess.run([*command, *map(str, program.source_paths)], capture_output=True, text=True)
    if done.returncode:
        raise ToolError(f"{program.name} does not build: {done.stderr.strip()[:200]}")
    return target


def _large() -> tuple[Row, float]:
    """A stencil on a large grid. Seconds are those of the second estimate, whose code is there."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder, Device(DEVICE) as device:
        source = Path(folder) / "smooth.cu"
        source.write_text(STENCIL)
        kernel = compile_program(source).kernel("smooth")
        cells = np.zeros((SIDE, SIDE), np.float32)
        given = (SIDE // 16, SIDE // 16), (16, 16), (cells, np.zeros_like(cells), SIDE)
        device.estimate(kernel, *given)
        began = time.process_time()
        found = device.estimate(kernel, *given)
        seconds = time.process_time() - began
        whole = device.launch(kernel, *given)
    row = {
        "program": "a stencil", "kernel": "smooth", "compared": 1, "sampled": int("blocks" in found.sources),
        "largest": found.sources.get("blocks", "-"), "whole us": round(whole.time_us, 3),
        "off %": round(abs(100 * (found.time_us / whole.time_us - 1)), 2),
    }  # fmt: skip
    return row, seconds
