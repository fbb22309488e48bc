"""What each optimisation of gpucc is worth: added one by one as in the paper's Figure 10, and left out one by one.

    none               without the five groups        all / nvcc's      what Figures 8 and 9 compare, in machine instructions
    + IU, + MSI, ...   in the paper's order
    without IU, ...    all but one
    without slsr, ...  all but one step of the paper's, in instructions alone

In PTX instructions, in machine instructions where an assembler is installed, beside nvcc's where nvcc is, and for programs of the
suite in the estimated time of their kernels on an H200, on their small data. Figures of a row are geometric means over the files or
programs; none are ratios to a row that they name. nvcc's code cannot be run here, so no time is set beside its.
Source: gpucc, section 4.3 (paper 002).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from kernelwright.bench.compile.machine_code import CudaFile, compile_by_nvcc, kernels_of, ptx_of, ptxas_of
from kernelwright.bench.compile.times import ARCH
from kernelwright.bench.gpu.nvcc import find_nvcc
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.codegen.cost.ptx_counts import count_instructions
from kernelwright.codegen.machine.assemble import Assembler, assemble, find_assemblers
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import PassOptions
from kernelwright.passes.pipeline import STEPS
from kernelwright.suite import load

DEVICE = "h200"
NONE, ALL = "none", "all"


@dataclass(frozen=True)
class Group:
    """One of Figure 10's bars: what leaving it out means."""

    name: str
    without: tuple[str, ...] = ()
    thresholds: tuple[tuple[str, int], ...] = ()


GROUPS = (
    # As LLVM has them for other processors: NVPTX multiplies the first by 11, and asks for the second.
    Group("IU", thresholds=(("inline", 22), ("unroll-partial", 0))),
    Group("MSI", ("msi",)),
    Group("SL", ("spec", "par", "slsr", "gra")),
    Group("AA", ("msaa",)),
    Group("bypass", ("bypass",)),
)


def left_out(groups: Sequence[Group]) -> PassOptions:
    """The options that leave these out."""
    return PassOptions.of(
        without=[step for group in groups for step in group.without],
        thresholds=dict(pair for group in groups for pair in group.thresholds),
    )


def configurations() -> dict[str, PassOptions]:
    """Every row's options by its name, the cumulative ones first. The last that is left out is the last but one that was added."""
    found = {NONE: left_out(GROUPS)}
    for number, group in enumerate(GROUPS, 1):
        found[f"+ {group.name}"] = left_out(GROUPS[number:])
    last = len(GROUPS) - 1
    for number, group in enumerate(GROUPS):
        found[f"without {group.name}"] = found[f"+ {GROUPS[last - 1].name}"] if number == last else left_out([group])
    return found


def single_steps() -> dict[str, PassOptions]:
    """Rows without one step, by its short name: all of the paper's that can be left out and are no group by themselves."""
    alone = set(configurations().values())
    found = {step.short: PassOptions.of(without=[step.short]) for step in STEPS if step.paper and step.optional}
    return {f"without {name}": options for name, options in found.items() if options not in alone}


def add_effects(files: Sequence[CudaFile], result: Measured, say: Say, times: bool = True) -> None:
    """Adds a row for each configuration and each step, and with ``times`` one for each suite program, and a promise. Files that we do not
    compile are left out, and noted by the comparison of machine code."""
    chosen = configurations()
    timed = list(dict.fromkeys(chosen.values()))
    rows = chosen | single_steps()
    distinct = list(dict.fromkeys(rows.values()))
    nvcc = find_nvcc()
    # nvcc's own, as for the comparison of machine code: so that only what stands before it differs.
    assembler = ptxas_of(nvcc) if nvcc else next(iter(find_assemblers()), None)
    counts: dict[PassOptions, list[tuple[int, int]]] = {options: [] for options in distinct}
    theirs: list[int] = []
    for file in files:
        say(f"effects in code: {file.program}")
        try:
            found = [_counted(file, options, assembler) for options in distinct]
        except KernelwrightError:
            continue
        by_nvcc = sum(code.instructions for code in compile_by_nvcc(file, ARCH, nvcc)[0].values()) if nvcc else 0
        theirs.append(by_nvcc)
        for options, each in zip(distinct, found, strict=True):
            counts[options].append(each)
    taken = _times(list(dict.fromkeys(file.program for file in files)), timed, say) if times else {}
    full = chosen[f"+ {GROUPS[-1].name}"]
    for name, options in rows.items():
        base = full if name.startswith("without") else chosen[NONE]
        row: Row = {"optimisations": name, "beside": ALL if base == full else NONE}
        row["PTX instructions"] = _mean(_over(counts[options], counts[base], 0))
        row["machine instructions"] = _mean(_over(counts[options], counts[base], 1))
        row["machine instructions over nvcc's"] = _mean(
            [own / other for (_, own), other in zip(counts[options], theirs, strict=True) if own and other]
        )
        if taken and options in timed:
            row["estimated time"] = _mean([us[options] / us[base] for us in taken.values()])
        result.rows.append(row)
    for program, us in taken.items():
        result.rows.append(
            {"program, estimated us": program} | {name: round(us[options], 2) for name, options in chosen.items()}
        )
    if times:
        gains = [us[full] / us[chosen[NONE]] for us in taken.values()]
        result.at_most("estimated time, all optimisations over none, geometric mean", _mean(gains), 1.0)


def _over(some: Sequence[tuple[int, int]], base: Sequence[tuple[int, int]], kind: int) -> list[float]:
    return [mine[kind] / other[kind] for mine, other in zip(some, base, strict=True) if other[kind]]


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.geometric_mean(values), 4) if values else None


def _counted(file: CudaFile, passes: PassOptions, assembler: Assembler | None) -> tuple[int, int]:
    """PTX and machine instructions of a file; no machine instructions without an assembler."""
    ptx = ptx_of(file, ARCH, passes)
    made = kernels_of(assemble(ptx, ARCH, assembler=assembler).data, ARCH) if assembler else {}
    return count_instructions(ptx), sum(code.instructions for code in made.values())


def _times(programs: Sequence[str], distinct: Sequence[PassOptions], say: Say) -> dict[str, dict[PassOptions, float]]:
    """By program and options, the estimated us of all launches of a run on small data. Estimates are the same however busy the machine
    is, so that as many run at once as there are cores. Raises ``ToolError`` for a run that fails."""
    taken: dict[str, dict[PassOptions, float]] = {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        for name in programs:
            say(f"effects in time: {name}")
            taken[name] = dict(zip(distinct, threads.map(partial(_profiled, name), distinct), strict=True))
    return taken


def _profiled(name: str, passes: PassOptions) -> float:
    program = load(name)
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        arguments = program.generate(Path(folder), "small", 1)
        words = [word for step in sorted(passes.without) for word in ("--without", step)]
        words += [word for key, value in passes.thresholds for word in ("--threshold", f"{key}={value}")]
        command = [
            sys.executable,
            "-m",
            "kernelwright",
            "profile",
            "--json",
            "--device",
            DEVICE,
            *words,
            *program.flags,
        ]
        command += [*map(str, program.source_paths), "--", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise ToolError(
            f"{name} does not run with {passes}: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}"
        )
    return sum(float(kernel["time_us"]) for kernel in json.JSONDecoder().raw_decode(done.stdout)[0]["kernels"])
