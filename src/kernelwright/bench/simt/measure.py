"""The virtual GPU against PoCL: the same kernels on the same inputs, one thread each, in one run.

Ours counts instructions, sectors and conflicts and checks every bound; PoCL does neither. Times are processor time of this
process, from the launch to its end; results of both are compared. The two run in turns, and of the ratios of their turns the median
counts: what else runs on a machine changes its speed from one second to the next. Both run the code they make for long runs: ours begins
with code that is sooner made. Promises: geometric mean at most 0.6 of PoCL's time, no kernel above 2.5; making a kernel
runnable takes at most 30 ms for 150 IR instructions and 150 ms for 900; ``as a variant``: one that has its vector operations in
common with kernels before.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelwright.bench.result import Measured, Say
from kernelwright.bench.simt.cases import Array, Case, cases_of
from kernelwright.bench.simt.cores import REPEAT, measure_cores
from kernelwright.bench.simt.executors import BEST, Ours, Pocl, pocl_on
from kernelwright.codegen.simt.launching.compiled_kernel import compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.ir import parse_module
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load


def measure(quick: bool, say: Say) -> Measured:
    """Seconds of each kernel by us and by PoCL, and their ratios, on one core and on all."""
    result = Measured("simt")
    ours = Ours()
    theirs = pocl_on(1, result)
    ratios = []
    cases = cases_of(quick)
    for case in cases:
        say(case.name)
        row, ratio = _row(case, ours, theirs, 3 if quick else REPEAT)
        result.rows.append(row)
        if ratio is not None:
            ratios.append(ratio)
    measure_cores(result, cases, quick, say)
    say("code generation")
    small, large = _code_generation(result, 3 if quick else 7)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
    result.at_most("geometric mean of our time over PoCL's", mean, 0.6)
    result.at_most("largest of our times over PoCL's", max(ratios) if ratios else None, 2.5)
    result.at_most("ms to make 150 IR instructions runnable", small, 30)
    result.at_most("ms to make 900 IR instructions runnable", large, 150)
    return result


def _row(case: Case, ours: Ours, theirs: Pocl | None, repeat: int) -> tuple[dict[str, Any], float | None]:
    runs: dict[str, Callable[[], float]] = {"ours": ours.prepared(case)}
    if theirs:
        runs["PoCL"] = theirs.prepared(case)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            times[name].append(run())
    middle = {name: statistics.median(values) for name, values in times.items()}
    row: dict[str, Any] = {"kernel": case.name, "ours ms": round(1000 * middle["ours"], 2)}
    row["PoCL ms"] = round(1000 * middle["PoCL"], 2) if theirs else None
    ratio = statistics.median(a / b for a, b in zip(*times.values(), strict=True)) if theirs else None
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
