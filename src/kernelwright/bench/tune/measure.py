"""Programs of several versions tuned on a virtual GPU: Table 1 and Figure 9 of paper 003, in estimated times.

Each dataset has a row: configurations beside the number promised, time tuned and untuned, and the least time of all paths where
they can be enumerated. Each program has a row of the black-box tuner.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.bench.tune.black_box import SEEDS, Effort, Searched, is_installed, searched
from kernelwright.bench.tune.dataset_rows import Worst, add_promises, dataset_row
from kernelwright.bench.tune.effort_ratios import EffortRatios
from kernelwright.bench.tune.measured_program import MeasuredProgram, built_program
from kernelwright.bench.tune.progress import ProgramResult, Progress
from kernelwright.errors import Misuse
from kernelwright.evaluate.workload.rule_text import parse_rule
from kernelwright.suite.multiversion.table import COMPARE, PROGRAMS, MultiVersionProgram
from kernelwright.versions.running.checked_program import CheckedProgram
from kernelwright.versions.running.resident_runner import ResidentRunner
from kernelwright.versions.thresholds import Tuning

QUICK = ("mapscan1", "nw")
PASSES = 3
"""Of our tuner, each with a process of its own and the program built anew, so that nothing that an earlier one has made is in a cache. The
quickest counts, as of OpenTuner's seeds and in the paper (section 4)."""
LESS = 6.4
"""The average by which the paper's tuner needs less time than OpenTuner (its Table 1)."""


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """``quick``: two programs, and one seed of the black box. ``names``: these programs only. Raises ``Misuse`` for one that is none."""
    result = Measured("tune")
    has_black_box = is_installed()
    chosen = [PROGRAMS[name] for name in known_programs(names or (QUICK if quick else PROGRAMS))]
    with Progress(quick, has_black_box, say) as progress:
        for program in chosen:
            if program.name not in progress.found:
                progress.note(_measured(program, quick, has_black_box, say))
    add_results(result, [progress.found[program.name] for program in chosen], whole=not (quick or names))
    if not has_black_box:
        result.notes.append("OpenTuner is not installed: pip install 'kernelwright[dev]'")
    result.notes.append("times are estimates of the virtual GPU; seconds are processor time of this machine")
    return result


def add_results(result: Measured, found: Sequence[ProgramResult], *, whole: bool) -> None:
    """The rows, promises and notes of programs. ``whole``: they are all there are, of which the promise of the mean is."""
    worst, ratios = Worst(), EffortRatios()
    for program in found:
        result.rows += program.rows
        result.notes += program.notes
        worst.count_in(program.worst)
        if program.searches:
            ratios.add(program.ours, program.searches, program.slowest_s)
    for program in found:
        result.rows += program.black_box
    add_promises(result, worst)
    result.at_most("other thresholds of a program in another pass", max((p.others for p in found), default=0), 0)
    # The promise is of all programs; what two of them give is in the notes.
    mean = ratios.mean_time() if whole else None
    result.at_least("OpenTuner's tuning time until it stops over ours, mean of programs", mean, LESS)
    result.notes += ratios.notes()


def _measured(program: MultiVersionProgram, quick: bool, has_black_box: bool, say: Say) -> ProgramResult:
    worst = Worst()
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        say(program.name)
        passes = [_pass(program, Path(folder, str(number))) for number in range(1 if quick else PASSES)]
        seconds, measured, tuning = min(passes, key=lambda each: each[0])
        runs, program_us = _effort(measured, tuning)
        ours = Effort(0, runs, program_us, 0.0, seconds)
        searches: list[Searched] = []
        if has_black_box:
            say(f"{program.name}: OpenTuner")
            total = sum(dataset.tuned_us for dataset in tuning.datasets)
            seeds = SEEDS[: 1 if quick else None]
            searches = [searched(measured, program.datasets, total, seconds, seed) for seed in seeds]
        say(f"{program.name}: all paths")
        rows = [dataset_row(program, dataset, measured, worst) for dataset in tuning.datasets]
    conflicts = [f"{program.name}: {each}" for each in tuning.conflicts]
    return ProgramResult(
        program.name,
        rows,
        [_black_box_row(program.name, ours, searches)] if searches else [],
        [*conflicts, *([f"{program.name}: {program.scale}"] if program.scale else [])],
        worst,
        len({str(each[2].thresholds) for each in passes}) - 1,
        ours,
        max(each[0] for each in passes),
        searches,
    )


def known_programs(names: Iterable[str]) -> list[str]:
    """Raises ``Misuse`` for a name of no program."""
    found = list(names)
    for name in found:
        if name not in PROGRAMS:
            raise Misuse(f"there is no program {name!r} of several versions", hint=f"there are {', '.join(PROGRAMS)}")
    return found


def _pass(program: MultiVersionProgram, folder: Path) -> tuple[float, MeasuredProgram, Tuning]:
    """The program tuned from nothing, and the processor time that took: of this process, and of what runs the program."""
    folder.mkdir()
    resident = ResidentRunner()
    built = CheckedProgram(built_program(program, folder, resident), parse_rule(COMPARE))
    resident.load(wait=True)  # As OpenTuner: that Python has started is no part of a search.

    def clock() -> float:
        return time.process_time() + resident.processor_s()

    measured = MeasuredProgram(built, clock)
    begin = clock()
    tuning = measured.tuned(program.datasets)
    return clock() - begin, measured, tuning


def _effort(measured: MeasuredProgram, tuning: Tuning) -> tuple[int, float]:
    """Runs of the tuning, and the program's time in them."""
    every = [c for found in tuning.measured.values() for c in found]
    return tuning.runs, sum(c.time_us for c in every if not c.times.failed)


def _black_box_row(program: str, ours: Effort, searches: list[Searched]) -> Row:
    """OpenTuner beside ours: over the seeds the least and the most."""

    def span(values: list[float]) -> str:
        return f"{min(values):.4g}" if min(values) == max(values) else f"{min(values):.4g} to {max(values):.4g}"

    equal = [s.at_equal for s in searches if s.at_equal is not None]
    return {
        "program": program,
        "dataset": f"OpenTuner, {len(searches)} seeds",
        "our runs": ours.runs,
        "it asked for": span([s.at_end.asked for s in searches]),
        "stopped by itself": f"{sum(not s.cut for s in searches)} of {len(searches)}",
        "its runs": span([s.at_end.runs for s in searches]),
        "until equal": span([e.runs for e in equal]) if equal else "never",
        "our program us": round(ours.program_us, 1),
        "its program us": span([s.at_end.program_us for s in searches]),
        "our s": round(ours.seconds, 2),
        "its s": span([s.at_end.seconds for s in searches]),
        "of which searching": span([s.at_end.own_s for s in searches]),
        "its s until equal": span([e.seconds for e in equal]) if equal else "never",
        "equal in": f"{len(equal)} of {len(searches)}",
        "its best us": span([s.best_us for s in searches]),
    }
