"""Candidates per second of ``kw evolve``, program by program: what judging one costs a worker, and what of it.

Of each program a short run is searched and kept in ``build/bench-rate`` (delete the folder to start over). Its candidates are then
judged again in this process, one after the other, as a worker would: the same ones every time, so that two versions of the
package can be compared, and by processor time, so that what else the machine does counts little. Outcomes must be those in the
run's journal. ``a second``: on two processors, each with a worker; ``ms``: of one candidate; the others are shares of its time.
Promises: at least 5 a second on each program, and no outcome that differs.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from kernelwright.bench.evolve import LEARNING, THIRTEEN, kept_run
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.device.settings import virtual_gpu
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.run.journal import Row as Tried
from kernelwright.evolution.genomes import GENOMES, EvolveRun

KEPT = Path("build") / "bench-rate"
EVALUATIONS, QUICK = 60, 30
SEED = 1
PROCESSORS = 2
RATE_BOUND = 5.0
STEPS = ("build", "run", "time", "order")


def measure(quick: bool, say: Say) -> Measured:
    result = Measured("rate")
    for program in ("hotspot", "nw") if quick else (*THIRTEEN, *LEARNING):
        say(program)
        with kept_run(KEPT, f"{program}-{SEED}", program, QUICK if quick else EVALUATIONS, SEED) as run:
            result.rows.append(row_of(program, run))
    for row in result.rows:
        result.at_least(f"candidates a second on two processors, {row['program']}", row["a second"], RATE_BOUND)
    result.at_most("outcomes that differ from the journal's", sum(row["differ"] for row in result.rows), 0)
    return result


def row_of(program: str, run: EvolveRun) -> Row:
    """Judges the run's candidates again."""
    settings = run.settings
    fitness = Fitness(run.workload(), virtual_gpu(settings.virtual), settings.demands, kind=run.kind, alone=True)
    fitness.reference()
    rows = [row for row in run.searched() if not row.phase.startswith("prove") and not _took_worker_down(row)]
    steps, stages, differ = Counter[str](), Counter[str](), 0
    began = time.process_time()
    for row in rows:
        evaluated = fitness.evaluate(GENOMES.from_json(row.candidate))
        steps.update(evaluated.timings)
        stages[evaluated.outcome.stage if isinstance(evaluated.outcome, Rejected) else "accepted"] += 1
        differ += evaluated.outcome != row.outcome
    seconds = time.process_time() - began
    whole = sum(steps[step] for step in STEPS) or 1.0
    return {
        "program": program,
        "candidates": len(rows),
        "accepted": stages["accepted"],
        "ms": round(1000 * seconds / max(len(rows), 1)),
        "a second": round(PROCESSORS * len(rows) / seconds, 1) if seconds else None,
        **{f"{step} %": round(100 * steps[step] / whole) for step in STEPS},
        "differ": differ,
    }


def _took_worker_down(row: Tried) -> bool:
    """Whether the worker that judged it was lost: so would this process be. What was judged has a key of its own."""
    return isinstance(row.outcome, Rejected) and row.outcome.stage in ("crash", "timeout") and row.key == row.hash
