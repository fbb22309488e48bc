"""Candidates per second of ``kw evolve``, program by program: what judging one costs a worker, and what of it.

Of each program a short run is searched and kept in ``build/bench-rate`` (delete the folder to start over). Its candidates are then
judged again in this process, one after the other, as a worker would: the same ones every time, so that two versions of the
package can be compared, and by processor time, so that what else the machine does counts little. Outcomes must be those in the
run's journal. ``a second``: on two processors, each with a worker; ``ms``: of one candidate; the others are shares of its time.

On large data some of them are judged twice, as a run has it and with every block of every launch run (``--whole``): ``sampled`` is
how many launches are seen by a sample, of how many; ``whole ms`` what a candidate costs that is run whole; ``off %`` how far the
farthest gain is from that of whole launches; ``differ`` are verdicts. Promises: at least 5 a second on each program, no outcome that
differs, no gain that is 1 % off.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kernelwright.bench.evolve import LEARNING, THIRTEEN, kept_run
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.bench.sampling import built
from kernelwright.device.settings import Settings, virtual_gpu
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.record_program import record
from kernelwright.evaluate.capture.select_launches import choose, look
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.journal import Row as Tried
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.farm.worker import collect_seldom
from kernelwright.suite import load
from kernelwright.suite.evolving import data_set

KEPT = Path("build") / "bench-rate"
EVALUATIONS, QUICK = 60, 30
SEED = 1
PROCESSORS = 2
RATE_BOUND = 5.0
PROGRAMS = (*THIRTEEN, *LEARNING)
LARGE = ("hotspot",)
"""Programs that are judged on large data, too."""
ON_LARGE = 12
"""Candidates that are, about, spread over the run."""
OFF_BOUND = 1.0
STEPS = ("build", "run", "time", "order")


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """``names``: these programs only. Raises ``Misuse`` for one that is none."""
    result = Measured("rate")
    if unknown := [name for name in names if name not in PROGRAMS]:
        raise Misuse(f"rate has no program {unknown[0]!r}", hint=f"one of {', '.join(PROGRAMS)}")
    for program in names or (("hotspot", "nw") if quick else PROGRAMS):
        say(program)
        with kept_run(KEPT, f"{program}-{SEED}", program, QUICK if quick else EVALUATIONS, SEED) as run:
            result.rows.append(row_of(program, run))
            if program in LARGE and not quick:
                say(f"{program}, large data")
                result.rows.append(row_on_large_data(program, run))
    for row in result.rows:
        result.at_least(f"candidates a second on two processors, {row['program']}", row["a second"], RATE_BOUND)
    result.at_most("outcomes that differ from the journal's", sum(row["differ"] for row in result.rows), 0)
    off = [row["off %"] for row in result.rows if row.get("off %") is not None]
    if off:
        result.at_most("gains on samples of large launches, farthest from those of whole ones, %", max(off), OFF_BOUND)
    return result


def row_of(program: str, run: EvolveRun) -> Row:
    """Judges the run's candidates again."""
    rows = _candidates(run)
    again = _Again(run, run.workload(), run.settings.demands, rows)
    differ = sum(one.outcome != row.outcome for one, row in zip(again.evaluated, rows, strict=True))
    return {"program": program, **again.row, "differ": differ}


def row_on_large_data(program: str, run: EvolveRun) -> Row:
    """Judges some of the run's candidates on its data sets and on a large one, twice."""
    rows = _candidates(run)[:: max(1, len(_candidates(run)) // ON_LARGE)]
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        workload = _with_large_data(program, run, Path(folder))
        demands = replace(run.settings.demands, sampled=True)
        some, whole = (_Again(run, workload, each, rows) for each in (demands, replace(demands, sampled=False)))
    pairs = list(zip(some.evaluated, whole.evaluated, strict=True))
    gains = [
        (some.original_us / one.outcome.time_us) / (whole.original_us / other.outcome.time_us)
        for one, other in pairs
        if isinstance(one.outcome, Ok) and isinstance(other.outcome, Ok)
    ]
    return {
        "program": f"{program}, large data",
        **some.row,
        "differ": sum(isinstance(one.outcome, Ok) != isinstance(other.outcome, Ok) for one, other in pairs),
        "sampled": f"{some.sampled} of {len(workload.cases)}",
        "whole ms": whole.row["ms"],
        "off %": round(max((abs(100 * (each - 1)) for each in gains), default=0.0), 3),
    }


class _Again:
    """Candidates of a run judged again in this process, one after the other."""

    def __init__(self, run: EvolveRun, workload: Workload, demands: Demands, rows: list[Tried]) -> None:
        fitness = Fitness(workload, virtual_gpu(run.settings.virtual), demands, kind=run.kind, alone=True)
        self.original_us = fitness.reference().time_us
        self.sampled = len(fitness.samples)
        collect_seldom()  # as in a worker
        began = time.process_time()
        self.evaluated = [fitness.evaluate(GENOMES.from_json(row.candidate)) for row in rows]
        self._seconds = time.process_time() - began

    @property
    def row(self) -> Row:
        steps, seconds, count = Counter[str](), self._seconds, len(self.evaluated)
        for each in self.evaluated:
            steps.update(each.timings)
        whole = sum(steps[step] for step in STEPS) or 1.0
        return {
            "candidates": count,
            "accepted": sum(isinstance(each.outcome, Ok) for each in self.evaluated),
            "ms": round(1000 * seconds / max(count, 1)),
            "a second": round(PROCESSORS * count / seconds, 1) if seconds else None,
            **{f"{step} %": round(100 * steps[step] / whole) for step in STEPS},
        }


def _candidates(run: EvolveRun) -> list[Tried]:
    return [row for row in run.searched() if not row.phase.startswith("prove") and not _took_worker_down(row)]


def _with_large_data(program: str, run: EvolveRun, folder: Path) -> Workload:
    """The workload of a run with large data before its own."""
    subject = run.subject
    assert isinstance(subject, Recordings)
    given = load(program)
    with data_set(given, "large", SEED) as (inside, line):
        settings = Settings.for_device(run.settings.virtual)
        target = folder / "large.capture"
        record(built(given, folder), line, target, settings, folder=inside, name=program)
    with Capture.read(target) as capture:
        chosen = choose(0, look(capture))
    own = [replace(each, recording=each.recording + 1) for each in subject.chosen]
    return replace(subject, paths=(str(target), *subject.paths), chosen=(*chosen, *own), held=()).workload()


def _took_worker_down(row: Tried) -> bool:
    """Whether the worker that judged it was lost: so would this process be. What was judged has a key of its own."""
    return isinstance(row.outcome, Rejected) and row.outcome.stage in ("crash", "timeout") and row.key == row.hash
