"""Programs of several versions tuned on data of about the paper's size, in estimated times. Nothing is searched beside."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.result import Measured, Say
from kernelwright.bench.tune.dataset_rows import Worst, add_promises, dataset_row
from kernelwright.bench.tune.measure import known_programs
from kernelwright.bench.tune.measured_program import built_program
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.suite.multiversion.table import COMPARE, PROGRAMS
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.thresholds import tune

QUICK = ("nn",)


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """``quick``: one program. ``names``: these programs only. Raises ``Misuse`` for one that is none."""
    result, worst = Measured("tune-large"), Worst()
    chosen = [PROGRAMS[name] for name in known_programs(names or (QUICK if quick else PROGRAMS))]
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        for program in (each for each in chosen if each.large):
            say(program.name)
            built = CheckedProgram(built_program(program, Path(folder)), parse_rule(COMPARE))
            begin = time.perf_counter()
            tuning = tune(built, program.large)
            seconds = time.perf_counter() - begin
            result.rows += [dataset_row(program, dataset, None, worst) for dataset in tuning.datasets]
            result.notes += [f"{program.name}: {each}" for each in tuning.conflicts]
            result.notes.append(f"{program.name}: tuned in {seconds:.0f} s")
    add_promises(result, worst)
    result.notes.append("times are estimates of the virtual GPU; seconds are of this machine")
    return result
