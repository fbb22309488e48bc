"""How the default search climbs, beside the paper's (``--preset gevo``) and edits drawn at random, candidate by candidate, over five seeds.

One run of the whole budget for each program, arm and seed; its journal holds the curve: the best of the first 100, 200, ... 5,000
candidates. What is compared is the fastest variant that is right on the training cases: all that the paper's search asks for. Arms:

    default   kw evolve --accept any
    control   the same with --preset gevo: Algorithm 1, its population as large as its budget allows
    random    the same with --preset random: one to three edits drawn at a time, and no selection

The first two plan by their budget (the share that the default keeps for the end; the size of the control's first generation), so the
first 400 candidates of a run of 5,000 are no run of 400: those are made apart, and are rows of their own. Edits drawn at random
plan nothing: there the first 400 are the run of 400.

The programs are those whose candidates cost least (``kw bench rate``), so that all of it takes about an hour and a half of two
cores. Runs are kept in ``build/bench-evolve``: the benchmark can be interrupted at any time and goes on in the middle of the
run; ``--programs nn`` takes one program alone, ``--evaluations 1000`` another budget. ``docs/images/make_search.py`` draws the last result.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import product, takewhile

from kernelwright.bench.evolve import KEPT, Arm, kept_run
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.journal import Row as Tried
from kernelwright.search.ties import TIE

PROGRAMS = ("nn", "bfs")
SEEDS = (1, 2, 3, 4, 5)
POINTS = (100, 200, 400, 1000, 2000, 5000)
"""Candidates after which the best so far is looked at."""
APART = 400
"""The budget of runs that are made besides, with one point at their end."""
QUICK_POINTS, QUICK_APART = (20, 40, 60), 40
CLIMBED = 5
"""The last part of the curve, in which the default has to gain more than a tie: the last four fifths of the budget."""
ARMS = (
    Arm("default", ("--accept", "any")),
    Arm("control", ("--accept", "any", "--preset", "gevo")),
    Arm("random", ("--accept", "any", "--preset", "random")),
)
AFTER = ("minimise", "prove", "salvage")
"""How the phases begin that come after a search: what they ask about is not the search's."""
PLANS_NOTHING = "random"
"""The arm whose first candidates are those of a shorter run."""

Curve = dict[int, float]
"""By number of candidates: the best speed-up among so many."""


def measure(quick: bool, say: Say, names: Sequence[str] = (), evaluations: int | None = None) -> Measured:
    """``names``: these programs only. ``evaluations``: the whole budget, in place of the last of ``POINTS``. Raises ``Misuse`` for a
    program that it does not run, and for a budget that is no more than that of the runs apart."""
    result = Measured("search")
    if unknown := [name for name in names if name not in PROGRAMS]:
        raise Misuse(f"search has no program {unknown[0]!r}", hint=f"one of {', '.join(PROGRAMS)}")
    programs = tuple(names) or (PROGRAMS[:1] if quick else PROGRAMS)
    seeds, apart = (SEEDS[:2], QUICK_APART) if quick else (SEEDS, APART)
    points: tuple[int, ...] = QUICK_POINTS if quick else POINTS
    if evaluations is not None:
        if evaluations <= apart:
            raise Misuse(f"a budget of {evaluations} leaves no curve", hint=f"more than {apart}")
        points = (*(point for point in points if point < evaluations), evaluations)
    for program in programs:
        whole: dict[str, list[Curve]] = {arm.name: [] for arm in ARMS}
        short: dict[str, list[Curve]] = {arm.name: [] for arm in ARMS}
        for seed, arm in product(seeds, ARMS):
            curve = _curve(program, arm, points, seed, say)
            whole[arm.name].append(curve)
            short[arm.name].append(
                {apart: curve[apart]} if arm.name == PLANS_NOTHING else _curve(program, arm, (apart,), seed, say)
            )
        result.rows += [row_of(program, apart, apart, short)]
        result.rows += [row_of(program, points[-1], count, whole) for count in points]
    for budget in (apart, points[-1]):
        for other in ("control", "random"):
            found = ratios(result.rows, budget, budget, "default", other)
            name = f"default over {other}, {budget} evaluations, geometric mean of speed-ups"
            result.at_least(f"{name}, all seeds", statistics.geometric_mean(found), 1.0)
            result.at_least(f"{name}, worst seed", min(found), 1.0)
    early = max(point for point in points if point <= points[-1] // CLIMBED or point == points[0])
    result.at_least(
        f"default, {points[-1]} candidates over the first {early} of the same runs, geometric mean",
        statistics.geometric_mean(climbed(result.rows, points[-1], early)), 1 + TIE,
    )  # fmt: skip
    return result


def row_of(program: str, budget: int, count: int, curves: dict[str, list[Curve]]) -> Row:
    """The best of the first ``count`` candidates: for each arm the geometric mean over the seeds, and all of them."""
    found = {arm: [curve[count] for curve in some] for arm, some in curves.items()}
    return (
        {"program": program, "evaluations": budget, "candidates": count, "seeds": len(next(iter(found.values())))}
        | {arm: round(statistics.geometric_mean(values), 3) for arm, values in found.items()}
        | {f"{arm}, by seed": " ".join(f"{value:.3f}" for value in values) for arm, values in found.items()}
    )


def by_seed(row: Row, arm: str) -> list[float]:
    """The speed-ups of an arm in a row, seed by seed."""
    return [float(value) for value in str(row[f"{arm}, by seed"]).split()]


def ratios(rows: Iterable[Row], budget: int, count: int, arm: str, other: str) -> list[float]:
    """Seed by seed, the geometric mean over the programs of what one arm finds over what another does."""
    chosen = [row for row in rows if (row["evaluations"], row["candidates"]) == (budget, count)]
    pairs = [zip(by_seed(row, arm), by_seed(row, other), strict=True) for row in chosen]
    return [statistics.geometric_mean([a / b for a, b in of_seed]) for of_seed in zip(*pairs, strict=True)]


def climbed(rows: Iterable[Row], budget: int, early: int) -> list[float]:
    """Run by run, what the default has at the end over what it had after ``early`` candidates."""
    ends, starts = (
        [value for row in rows if (row["evaluations"], row["candidates"]) == (budget, count) for value in by_seed(row, "default")]
        for count in (budget, early)
    )  # fmt: skip
    return [end / start for end, start in zip(ends, starts, strict=True)]


def curve_of(rows: Iterable[Tried], original_us: float, points: Sequence[int]) -> Curve:
    """The best speed-up among the first so many candidates of a search that are right on the training cases; the original is
    the first of them, and 1. A search that asked about fewer (nothing new was left to ask) stays where it was."""
    best, found = 1.0, dict[int, float]()
    left = list(points)
    for count, row in enumerate(rows, start=1):
        if us := _trained_us(row):
            best = max(best, original_us / us)
        if left and count == left[0]:
            found[left.pop(0)] = best
    return found | dict.fromkeys(left, best)


def _trained_us(row: Tried) -> float | None:
    """The time of a candidate that is right on the training cases, whatever was asked of it then."""
    if trained := row.facts.get("trained"):
        return float(trained["time_us"])
    return row.outcome.time_us if isinstance(row.outcome, Ok) else None


def _curve(program: str, arm: Arm, points: Sequence[int], seed: int, say: Say) -> Curve:
    budget = points[-1]
    say(f"{program}, {arm.name}, {budget} evaluations, seed {seed}")
    with kept_run(KEPT, f"{program}-{arm.name}-{budget}-seed{seed}", program, budget, seed, arm.flags) as run:
        assert run.original_us is not None
        asked = takewhile(lambda row: not row.phase.startswith(AFTER), run.searched())
        return curve_of(asked, run.original_us, points)
