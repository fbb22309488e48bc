"""Table 1 and Figure 9 of paper 003 on a GPU: programs of several versions, built by nvcc, tuned in measured times.

A program is timed by the device: copies of the inputs, all launches, copies of the outputs, the median of RUNS runs in one
process (``KW_TIMED`` of ``suite/multiversion/prelude.cuh``).
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernelwright.bench.gpu.deadline import NEVER, SIDE_BY_SIDE, Deadline
from kernelwright.bench.gpu.nvcc import find_nvcc
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.cuda.clang import HEADERS
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.suite.multiversion.table import COMPARE, PROGRAMS, TABLE_1, MultiVersionProgram
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.external_program import DATA, ExternalProgram
from kernelwright.versions.thresholds import DatasetResult, most_configurations, tune

RUNS = 11
"""Of a configuration in one process, the first apart."""
MOST_PROCESSES = 8
"""Of a configuration, while noise leaves a comparison open."""
TIMEOUT_S = 120.0
LONGEST = "lud"
"""Its thresholds are tuned for every step of a factorisation: two minutes on an H200 are not enough. It comes last."""
HEADER = "kernelwright_threshold.h"
Build = Callable[[Path, Path], str]
"""Compiles a source to an executable; why it could not, or nothing."""


def run_tune(
    ordinal: int, say: Say, build: Build | None = None, names: Iterable[str] = TABLE_1, until: Deadline = NEVER
) -> Measured:
    """Every program of the table. ``ordinal``: the number of the GPU; ``build``: else nvcc, without which nothing is measured."""
    result = Measured("tune")
    if build is None and find_nvcc() is None:
        result.notes.append("not measured: there is no nvcc")
        return result
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        say("building")
        names = sorted(names, key=LONGEST.__eq__)
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            built = dict(
                zip(
                    names,
                    pool.map(lambda name: _built(PROGRAMS[name], Path(folder), build or by_nvcc), names),
                    strict=True,
                )
            )
        for name in until.before(names, result):
            say(name)
            executable, trouble = built[name]
            if trouble:
                result.notes.append(f"{name} is not built: {trouble}")
            else:
                rows += _rows(PROGRAMS[name], executable, ordinal, result)
    result.rows = rows
    served = [row for row in rows if row["served"]]
    share = max((row["configurations"] / row["promised"] for row in rows), default=None)
    result.at_most("configurations of a dataset, as a share of those promised", share, 1.0)
    slower = sum(row["slower than untuned"] for row in served) if served else None
    result.at_most("served datasets that are slower tuned than untuned by more than noise", slower, 0)
    return result


def by_nvcc(source: Path, executable: Path) -> str:
    flags = ["-O3", "-w", "-arch=native", f"-DKW_TIMED={RUNS}", f"-I{source.parent}"]
    words = [find_nvcc() or "nvcc", *flags, "-o", str(executable), str(source)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error).splitlines()[0]
    return (done.stderr.strip().splitlines() or ["it said nothing"])[-1] if done.returncode else ""


def _built(program: MultiVersionProgram, folder: Path, build: Build) -> tuple[Path, str]:
    """The executable, and why there is none."""
    source, executable = folder / f"{program.name}.cu", folder / program.name
    source.write_text(program.text())
    (folder / HEADER).write_text((HEADERS / HEADER).read_text())
    return executable, build(source, executable)


def _rows(program: MultiVersionProgram, executable: Path, ordinal: int, result: Measured) -> list[Row]:
    # The arguments of a dataset are words of their own: the shell splits $0.
    inner = shlex.quote(f"exec {shlex.quote(str(executable))} $0")
    command = f"CUDA_VISIBLE_DEVICES={ordinal} KW_TUNING=1 sh -c {inner} {DATA}"
    checked = CheckedProgram(ExternalProgram(command, TIMEOUT_S), parse_rule(COMPARE))
    tuning = tune(checked, program.datasets, Resolution.noisy(most_runs=MOST_PROCESSES))
    result.notes += [f"{program.name}: {conflict}" for conflict in tuning.conflicts]
    return [_row(program.name, dataset) for dataset in tuning.datasets]


def _row(program: str, dataset: DatasetResult) -> Row:
    return {
        "program": program,
        "dataset": dataset.name,
        "thresholds": len(dataset.decisions),
        "configurations": dataset.configurations,
        "promised": 1 + sum(most_configurations(len(d.values)) for d in dataset.decisions),
        "runs": dataset.runs,
        "untuned us": round(dataset.untuned_us, 2),
        "tuned us": round(dataset.tuned_us, 2),
        "times as fast": round(dataset.untuned_us / dataset.tuned_us, 2),
        "served": dataset.served,
        "slower than untuned": dataset.slower_than_untuned,
        "failures": len(dataset.failures),
    }
