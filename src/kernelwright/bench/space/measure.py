"""Searches of spaces against descents that know nothing, at equal evaluations and at equal time; matrix products against one that
is tiled by hand, and strided ones against the naive kernel.

Times are those of the timing model for an H200. Quick: axpy of 65,536, 16 kernels, one seed; its promises are about the run alone.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from kernelwright.bench.result import Measured, Say
from kernelwright.bench.space.hand_tiled import hand_tiled
from kernelwright.evaluate.outcome import Ok
from kernelwright.exploration.run import ExploreRun
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import Trials
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH
from kernelwright.stories.explore import explore

DEVICE = "h200"
ARMS = (DEFAULT_TREE_SEARCH, "tag", "weighted", "uniform")
SEEDS = tuple(range(1, 11))


@dataclass(frozen=True)
class Problem:
    computation: str
    sizes: tuple[int, ...]
    evaluations: int
    seeds: tuple[int, ...]
    tiled: float | None = None
    """The share of the hand-tiled kernel's speed that the median is promised to reach."""
    naive: float | None = None
    """How many times the naive kernel's."""

    def __str__(self) -> str:
        return " ".join([self.computation, *map(str, self.sizes)])


QUICK = (Problem("axpy", (65_536,), 16, (1,)),)
WHOLE = (
    Problem("matmul", (256, 256, 32), 200, SEEDS),
    Problem("matmul", (1024, 1024, 1024), 1000, SEEDS[:5], tiled=0.9),
    Problem("matmul_strided", (1024, 1024, 1024), 1000, SEEDS[:5], naive=10.0),
)


@dataclass(frozen=True)
class Course:
    """One exploration: (seconds since it began, best time so far) after each kernel that was right."""

    points: tuple[tuple[float, float], ...]
    seconds: float
    best_us: float
    naive_us: float
    gap: float
    above_bound: int

    def best_within(self, seconds: float) -> float:
        """At first the naive kernel is all there is."""
        return min((time for at, time in self.points if at <= seconds), default=self.naive_us)


def measure(quick: bool, say: Say) -> Measured:
    """The best times that searches find, at equal evaluations and at equal time; ``quick``: one problem."""
    result = Measured("space")
    for problem in QUICK if quick else WHOLE:
        arms = (DEFAULT_TREE_SEARCH, "uniform") if quick else ARMS
        found = {arm: [_course(problem, arm, seed, say) for seed in problem.seeds] for arm in arms}
        for arm, courses in found.items():
            times = [course.best_us for course in courses]
            equal = [_at_equal_time(found, arm, number) for number in range(len(problem.seeds))]
            result.rows.append(
                {
                    "problem": str(problem),
                    "search": arm,
                    "kernels": problem.evaluations,
                    "seeds": len(problem.seeds),
                    "best us, median": round(statistics.median(times), 3),
                    "least": round(min(times), 3),
                    "most": round(max(times), 3),
                    "at equal time us": round(statistics.median(equal), 3),
                    "over naive": round(statistics.median(c.naive_us / c.best_us for c in courses), 2),
                    "proven gap %": round(100 * statistics.median(c.gap for c in courses), 1),
                    "seconds": round(statistics.median(c.seconds for c in courses), 1),
                }
            )
        above = sum(course.above_bound for courses in found.values() for course in courses)
        result.at_most(f"{problem}: kernels faster than their bound", float(above), 0)
        if not quick:
            _promise(result, problem, found)
    return result


def _promise(result: Measured, problem: Problem, found: dict[str, list[Course]]) -> None:
    best = {arm: statistics.median(c.best_us for c in courses) for arm, courses in found.items()}
    ours = DEFAULT_TREE_SEARCH
    result.at_most(f"{problem}: {ours} over uniform, best time at equal evaluations", best[ours] / best["uniform"], 1.0)
    equal = {arm: statistics.median(_at_equal_time(found, arm, n) for n in range(len(problem.seeds))) for arm in best}
    result.at_most(f"{problem}: {ours} over uniform, best time at equal time", equal[ours] / equal["uniform"], 1.0)
    if problem.tiled is not None:
        result.at_least(f"{problem}: share of the hand-tiled speed", tiled_us(problem) / best[ours], problem.tiled)
    if problem.naive is not None:
        gain = statistics.median(c.naive_us / c.best_us for c in found[ours])
        result.at_least(f"{problem}: times the naive speed", gain, problem.naive)


def _at_equal_time(found: dict[str, list[Course]], arm: str, number: int) -> float:
    """The best that an arm has when the quickest arm of this seed is done."""
    return found[arm][number].best_within(min(courses[number].seconds for courses in found.values()))


def tiled_us(problem: Problem) -> float:
    """The hand-tiled kernel's time, tried as candidates are."""
    trials = Trials(Subject.of(problem.computation, problem.sizes, DEVICE))
    outcome = trials.of([hand_tiled(*problem.sizes)])[0].outcome
    trials.close()
    if not isinstance(outcome, Ok):
        raise RuntimeError(f"the hand-tiled kernel is wrong: {outcome}")
    return outcome.time_us


def _course(problem: Problem, arm: str, seed: int, say: Say) -> Course:
    say(f"{problem}, {arm}, seed {seed}")
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        run = explore(
            problem.computation,
            problem.sizes,
            device=DEVICE,
            folder=Path(folder) / "run",
            strategy=arm,
            evaluations=problem.evaluations,
            seed=seed,
        )
        with run:
            return _course_of(run)


def _course_of(run: ExploreRun) -> Course:
    best, naive, ended = run.best, run.naive, run.ended
    assert best is not None and naive is not None and ended is not None
    rows, began = list(run.rows()), run.journal.sessions[0].at
    points = [(row.at - began, row.outcome.time_us) for row in rows if isinstance(row.outcome, Ok)]
    seconds = rows[-1].at - began
    gap = best.time_us / run.proven_us - 1
    return Course(tuple(points), seconds, best.time_us, naive.time_us, gap, int(ended["above_bound"]))
