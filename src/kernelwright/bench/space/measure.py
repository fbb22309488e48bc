"""Searches of spaces against descents that know nothing, at equal evaluations and at equal time; matrix products against one that
is tiled by hand, and strided ones against the naive kernel.

Times are those of the timing model for an H200, of kernels run as a whole. An exploration that has a mark to reach (a share of the
hand-tiled kernel's speed, so many times the naive kernel's) ends where it reaches it: what it would find after that only makes it better.
Quick: axpy of 65,536, 16 kernels, one seed; its promises are about the run alone.

Finished explorations are kept in ``build/bench-space-runs`` under the state of the package, so that an interrupted benchmark goes
on with the next one.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.package_state import package_state
from kernelwright.bench.result import Measured, Say
from kernelwright.bench.space.hand_tiled import hand_tiled
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.run import JOURNAL
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.run import ExploredKernel, ExploreRun
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import Trials
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH
from kernelwright.space.computation.family import SEED
from kernelwright.space.cuda_source import GeneratedKernel
from kernelwright.stories.explore import explore

DEVICE = "h200"
KEPT = Path("build") / "bench-space-runs"
UNIFORM = "uniform"
AGAIN = 40
"""How often the best kernel of all is tried again."""
SEEDS = tuple(range(1, 11))


@dataclass(frozen=True)
class Problem:
    computation: str
    sizes: tuple[int, ...]
    evaluations: int
    seeds: tuple[int, ...]
    arms: tuple[str, ...] = (DEFAULT_TREE_SEARCH,)
    tiled: float | None = None
    """The share of the hand-tiled kernel's speed that the median is promised to reach."""
    naive: float | None = None
    """How many times the naive kernel's."""

    def mark_us(self) -> float | None:
        """The time at which a promise is kept."""
        if self.tiled is not None:
            return tiled_us(self) / self.tiled
        return naive_us(self) / self.naive if self.naive is not None else None

    def __str__(self) -> str:
        return " ".join([self.computation, *map(str, self.sizes)])


BOTH = (DEFAULT_TREE_SEARCH, UNIFORM)
QUICK = (Problem("axpy", (65_536,), 16, (1,), BOTH),)
WHOLE = (
    Problem("matmul", (256, 256, 32), 100, SEEDS, BOTH),
    Problem("matmul", (1024, 1024, 1024), 1000, SEEDS[:5], tiled=0.9),
    Problem("matmul_strided", (1024, 1024, 1024), 1000, SEEDS[:5], naive=10.0),
)


@dataclass(frozen=True)
class Course:
    """One exploration: (seconds since it began, best time so far) after each kernel that was right."""

    points: tuple[tuple[float, float], ...]
    seconds: float
    best: ExploredKernel
    naive_us: float
    gap: float
    above_bound: int
    kernels: int
    """Tried, those that were rejected included."""

    @property
    def best_us(self) -> float:
        """The estimated time of its best kernel."""
        return self.best.time_us

    def best_within(self, seconds: float) -> float:
        """At first the naive kernel is all there is."""
        return min((time for at, time in self.points if at <= seconds), default=self.naive_us)


def measure(quick: bool, say: Say, names: Sequence[str] = ()) -> Measured:
    """The best times that searches find, at equal evaluations and at equal time; ``quick``: one problem; ``names``: those of these
    names. Raises ``Misuse`` for a name that is no problem's."""
    result = Measured("space")
    problems = QUICK if quick else WHOLE
    for name in names:
        if name not in map(str, problems):
            raise Misuse(f"space has no problem {name!r}", hint=f"one of {', '.join(map(str, problems))}")
    for problem in [each for each in problems if not names or str(each) in names]:
        mark = problem.mark_us()
        found = {arm: [_course(problem, arm, seed, mark, say) for seed in problem.seeds] for arm in problem.arms}
        for arm, courses in found.items():
            times = [course.best_us for course in courses]
            equal = [_at_equal_time(found, arm, number) for number in range(len(problem.seeds))]
            again = _tried_again(problem, min(courses, key=lambda course: course.best_us), say) if mark else []
            result.rows.append(
                {
                    "problem": str(problem),
                    "search": arm,
                    "kernels, median": statistics.median(c.kernels for c in courses),
                    "at most": max(c.kernels for c in courses),
                    "allowed": problem.evaluations,
                    "seeds": len(problem.seeds),
                    "mark us": None if mark is None else round(mark, 3),
                    "reached it": None if mark is None else sum(time <= mark for time in times),
                    "best us, median": round(statistics.median(times), 3),
                    "least": round(min(times), 3),
                    "most": round(max(times), 3),
                    "the best, again": f"{min(again):.3f} to {max(again):.3f}" if again else None,
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
    if UNIFORM in found:
        ratio = best[ours] / best[UNIFORM]
        result.at_most(f"{problem}: {ours} over {UNIFORM}, best time at equal evaluations", ratio, 1.0)
        numbers = range(len(problem.seeds))
        equal = {arm: statistics.median(_at_equal_time(found, arm, n) for n in numbers) for arm in best}
        ratio = equal[ours] / equal[UNIFORM]
        result.at_most(f"{problem}: {ours} over {UNIFORM}, best time at equal time", ratio, 1.0)
    if problem.tiled is not None:
        result.at_least(f"{problem}: share of the hand-tiled speed", tiled_us(problem) / best[ours], problem.tiled)
    if problem.naive is not None:
        gain = statistics.median(c.naive_us / c.best_us for c in found[ours])
        result.at_least(f"{problem}: times the naive speed", gain, problem.naive)


def _at_equal_time(found: dict[str, list[Course]], arm: str, number: int) -> float:
    """The best that an arm has when the quickest arm of this seed is done."""
    return found[arm][number].best_within(min(courses[number].seconds for courses in found.values()))


def tiled_us(problem: Problem) -> float:
    """The hand-tiled kernel's time, run as a whole, as winners are."""
    return _whole_us(_subject(problem), hand_tiled(*problem.sizes))


def naive_us(problem: Problem) -> float:
    """The same of the naive kernel."""
    space = KernelSpace(_subject(problem))
    return _whole_us(space.subject, space.kernel(naive_decisions(space)))


def _subject(problem: Problem) -> Subject:
    return Subject.of(problem.computation, problem.sizes, DEVICE)


def _tried_again(problem: Problem, course: Course, say: Say) -> list[float]:
    """The times of a kernel that was found, each on inputs of its own."""
    say(f"{problem}, its best kernel {AGAIN} times")
    subject = _subject(problem)
    kernel = KernelSpace(subject).kernel(course.best.decisions)
    return [_whole_us(subject, kernel, seed) for seed in range(1, AGAIN + 1)]


def _whole_us(subject: Subject, kernel: GeneratedKernel, seed: int = SEED) -> float:
    trials = Trials(subject, seed)
    outcome = trials.whole(kernel)
    trials.close()
    if not isinstance(outcome, Ok):
        raise RuntimeError(f"a kernel to compare with is wrong: {outcome}")
    return outcome.time_us


def _course(problem: Problem, arm: str, seed: int, mark_us: float | None, say: Say) -> Course:
    say(f"{problem}, {arm}, seed {seed}")
    folder = KEPT / package_state() / f"{problem} {problem.evaluations} {arm} {seed}".replace(" ", "-")
    kept = _finished(folder)
    if kept is None:
        shutil.rmtree(folder, ignore_errors=True)
        kept = explore(
            problem.computation,
            problem.sizes,
            device=DEVICE,
            folder=folder,
            strategy=arm,
            evaluations=problem.evaluations,
            until_us=mark_us,
            seed=seed,
        )
    with kept:
        return _course_of(kept)


def _finished(folder: Path) -> ExploreRun | None:
    """An exploration that has come to its end, open: one that was interrupted has other times than it would have had, and begins anew."""
    if not (folder / JOURNAL).is_file():
        return None
    run = ExploreRun.open(folder, DECISIONS)
    if run.ended is not None:
        return run
    run.close()
    return None


def _course_of(run: ExploreRun) -> Course:
    best, naive, ended = run.best, run.naive, run.ended
    assert best is not None and naive is not None and ended is not None
    rows, began = list(run.rows()), run.journal.sessions[0].at
    points = [(row.at - began, row.outcome.time_us) for row in rows if isinstance(row.outcome, Ok)]
    seconds = rows[-1].at - began
    gap = best.time_us / run.proven_us - 1
    return Course(tuple(points), seconds, best, naive.time_us, gap, int(ended["above_bound"]), len(rows))
