"""Table 1 and Figure 9 of paper 003 on a GPU: programs of several versions, built by nvcc, tuned in measured times.

A program is timed by the device: copies of the inputs, all launches, copies of the outputs, the median of RUNS runs in one
process (``KW_TIMED`` of ``suite/multiversion/prelude.cuh``).

Where time is short, programs share it: each is tuned for its part of what is left, and those that are not at their end go on when all
have had their turn.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernelwright.bench.gpu.deadline import NEVER, SIDE_BY_SIDE, Deadline
from kernelwright.bench.gpu.nvcc import find_nvcc
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.cuda.clang import HEADERS
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.suite.multiversion.table import COMPARE, PROGRAMS, TABLE_1, MultiVersionProgram
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.external_program import DATA, ExternalProgram
from kernelwright.versions.thresholds import DatasetResult, Tuning, most_configurations, tune

RUNS = 11
"""Of a configuration in one process, the first apart."""
MOST_PROCESSES = 8
"""Of a configuration, while noise leaves a comparison open."""
TIMEOUT_S = 120.0
HEADER = "kernelwright_threshold.h"
Build = Callable[[Path, Path], str]
"""Compiles a source to an executable; why it could not, or nothing."""


def run_tune(
    ordinal: int,
    say: Say,
    build: Build | None = None,
    names: Iterable[str] = TABLE_1,
    until: Deadline = NEVER,
    keep: Callable[[Measured], None] = lambda _: None,
) -> Measured:
    """Every program of the table. ``ordinal``: the number of the GPU; ``build``: else nvcc, without which nothing is measured. ``keep`` is
    given what is known whenever a program has had its turn."""
    if build is None and find_nvcc() is None:
        return Measured("tune", notes=["not measured: there is no nvcc"])
    notes: list[str] = []
    programs: dict[str, CheckedProgram] = {}
    tuned: dict[str, Tuning] = {}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        say("building")
        names = list(names)
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            built = pool.map(lambda name: _built(PROGRAMS[name], Path(folder), build or by_nvcc), names)
        for name, (executable, trouble) in zip(names, built, strict=True):
            if trouble:
                notes.append(f"{name} is not built: {trouble}")
            else:
                programs[name] = _program(executable, ordinal)
        while waiting := [name for name in programs if name not in tuned or tuned[name].not_done]:
            if until.is_over:
                break
            for number, name in enumerate(waiting):
                if until.is_over:
                    break
                say(name)
                own = until.share(len(waiting) - number)
                try:
                    tuned[name] = _tuned(PROGRAMS[name], programs[name], tuned.get(name), own)
                except KernelwrightError as error:
                    failed[name] = error.message
                    del programs[name]
                keep(_result(tuned, programs, failed, notes))
    return _result(tuned, programs, failed, notes)


def _tuned(program: MultiVersionProgram, checked: CheckedProgram, before: Tuning | None, until: Deadline) -> Tuning:
    """Goes on from what is known of the program."""
    rule = Resolution.noisy(most_runs=MOST_PROCESSES)
    measured = before.measured if before is not None else {}
    return tune(checked, program.datasets, rule, measured=measured, is_over=lambda: until.is_over)


def _result(
    tuned: Mapping[str, Tuning], programs: Iterable[str], failed: Mapping[str, str], notes: Sequence[str]
) -> Measured:
    result = Measured("tune", notes=[*notes, *(f"{name} is not tuned: {why}" for name, why in failed.items())])
    for name, tuning in tuned.items():
        result.rows += [_row(name, dataset, tuning.measured[dataset.name]) for dataset in tuning.datasets]
        result.notes += [f"{name}: {conflict}" for conflict in tuning.conflicts]
        if tuning.not_done:
            result.notes.append(f"{name} is not tuned in time: {', '.join(tuning.not_done)}")
    left = [name for name in programs if name not in tuned]
    if left:
        result.notes.append(f"not reached in time: {', '.join(left)}")
    served = [row for row in result.rows if row["served"]]
    share = max((row["configurations"] / row["promised"] for row in result.rows), default=None)
    result.at_most("configurations of a dataset, as a share of those promised", share, 1.0)
    result.at_most("programs of which no dataset runs", len(failed) if tuned or failed else None, 0)
    slower = sum(row["slower than untuned"] for row in served) if served else None
    result.at_most("served datasets that are slower tuned than untuned by more than noise", slower, 0)
    return result


def by_nvcc(source: Path, executable: Path) -> str:
    """Builds a program with nvcc; returns why it could not, empty when all went well."""
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


def _program(executable: Path, ordinal: int) -> CheckedProgram:
    # The arguments of a dataset are words of their own: the shell splits $0.
    inner = shlex.quote(f"exec {shlex.quote(str(executable))} $0")
    command = f"CUDA_VISIBLE_DEVICES={ordinal} KW_TUNING=1 sh -c {inner} {DATA}"
    return CheckedProgram(ExternalProgram(command, TIMEOUT_S), parse_rule(COMPARE))


def _row(program: str, dataset: DatasetResult, measured: Sequence[Configuration]) -> Row:
    return {
        "program": program,
        "dataset": dataset.name,
        "thresholds": len(dataset.decisions),
        "configurations": dataset.configurations,
        "promised": 1 + sum(most_configurations(len(d.values)) for d in dataset.decisions),
        "runs": sum(max(len(each.times), 1) for each in measured),
        "untuned us": round(dataset.untuned_us, 2),
        "tuned us": round(dataset.tuned_us, 2),
        "times as fast": round(dataset.untuned_us / dataset.tuned_us, 2),
        "served": dataset.served,
        "slower than untuned": dataset.slower_than_untuned,
        "failures": len(dataset.failures),
    }
