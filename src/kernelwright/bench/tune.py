"""Tuning programs of several versions on a virtual GPU: runs against what is promised, results against exhaustive search.

The search runs every assignment of thresholds that a dataset can tell from the others, and knows nothing of the tuner. The
black-box tuner of the paper's Table 1 and nine of its eleven programs are not here yet.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from kernelwright.bench.result import Measured, Say
from kernelwright.cuda.link import LinkOptions
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite.multiversion.table import PROGRAMS, MultiVersionProgram
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.program import INFINITE, TunedProgram
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.external_program import ExternalProgram
from kernelwright.versions.running.runner_commands import cuda_program
from kernelwright.versions.thresholds import DatasetResult, most_configurations, tune

DEVICE = "h200"
TIMEOUT_S = 300.0
RULE = parse_rule("relative 1e-3 floor 1e-4")
"""Versions add in different orders."""


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("tune")
    worst_count, slower, beyond = 0.0, 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        for program in list(PROGRAMS.values())[: 1 if quick else None]:
            say(program.name)
            built = CheckedProgram(built_program(program, Path(folder)), RULE)
            begin = time.perf_counter()
            tuning = tune(built, program.datasets)
            seconds = time.perf_counter() - begin
            for dataset in tuning.datasets:
                promised = 1 + sum(most_configurations(len(d.values)) for d in dataset.decisions)
                searched, least = exhaustive(built, dataset.name, tuning.measured[dataset.name])
                worst_count = max(worst_count, dataset.configurations / promised)
                beyond = max(beyond, dataset.best_us / least - 1)
                if dataset.served:
                    slower = max(slower, dataset.tuned_us / dataset.untuned_us - 1, dataset.tuned_us / least - 1)
                result.rows.append(_row(program, dataset, promised, searched, least))
            result.notes.append(f"{program.name}: {seconds:.0f} s of tuning; {len(tuning.conflicts)} conflicts")
    result.at_most("configurations of a dataset, as a share of those promised", worst_count, 1.0)
    result.at_most("a dataset's best above the least of all assignments", beyond, 0.0)
    result.at_most("a served dataset's tuned time above its untuned one and the least", slower, 0.0)
    result.notes.append("not measured: OpenTuner beside it, and the paper's other programs")
    return result


def built_program(program: MultiVersionProgram, folder: Path) -> ExternalProgram:
    """``program`` compiled for the virtual GPU."""
    source, executable = folder / f"{program.name}.cu", folder / program.name
    source.write_text(program.text())
    link = LinkOptions(device=DEVICE, worker=worker_command())
    build_executable(compile_program(source), [], executable, link)
    return cuda_program(executable, DEVICE, TIMEOUT_S)


def exhaustive(program: TunedProgram, dataset: str, known: list[Configuration]) -> tuple[int, float]:
    """How many assignments were run, and the least time of all. Values of guards are those that any run has met."""
    values: dict[str, set[int]] = {}
    for configuration in known:
        for each in configuration.compared:
            values.setdefault(each.name, {INFINITE}).add(each.value)
    names = sorted(values)
    least = math.inf
    count = 0
    for chosen in itertools.product(*(sorted(values[name]) for name in names)):
        assignment: Mapping[str, int] = dict(zip(names, chosen, strict=True))
        time_us = program.run(dataset, assignment).time_us
        least = min(least, math.inf if time_us is None else time_us)
        count += 1
    return count, least


def _row(
    program: MultiVersionProgram, dataset: DatasetResult, promised: int, searched: int, least: float
) -> dict[str, object]:
    return {
        "program": program.name,
        "dataset": dataset.name,
        "thresholds": len(dataset.decisions),
        "configurations": dataset.configurations,
        "promised": promised,
        "exhaustive": searched,
        "untuned us": round(dataset.untuned_us, 2),
        "tuned us": round(dataset.tuned_us, 2),
        "least us": round(least, 2),
        "served": dataset.served,
    }
