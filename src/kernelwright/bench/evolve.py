"""Evolution over the whole suite, at equal evaluations: what each way of searching finds, and what of it stands up.

Two headline figures side by side: *as GEVO would report it* (the fastest that is exact on the training cases, whatever it
depends on) and *clean* (the fastest whose proof found nothing). Arms:

    found     default search, anything that is exact on the training cases counts       the first headline
    clean     default search, schedules and races count from the beginning              the second
    within    default search, errors to 1 % by the paper's definition                   the first, within tolerance
    gevo      the paper's search (--preset gevo), as ``found``                          the control

The marks for the first headline, 49 % and 51 %, were set on data with regularities (HotSpot: a square chip; B+tree: a value
is its key), on which 412 % of B+tree alone make 32 of the 49. Both headlines are computed on the suite's own data, which
have none; beside the first stands what it comes to with such data for these two (``suite:btree@regular``).

*claimed*: speed-ups of the fastest that is exact, clean, proven: under launch-time checks, under such that fix no value (*for any
size*), under none (*for any input*), and these three with launch cost.

The runs are kept in ``build/bench-evolve`` and finished ones are not made again, so that the benchmark can be interrupted;
delete the folder to start over. On the virtual GPU a run of a seed is the same on every machine; only its speed is not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

from kernelwright.bench.result import Measured, Row, Say
from kernelwright.edits import Gene, apply
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.run.run import FOLDER, JOURNAL
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.general import fixes_launch, own_blocks_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.lazy_dataclasses import dataclass

KEPT = Path("build") / "bench-evolve"
EVALUATIONS = 1000
OTHER_BUDGETS = {"heartwall": 120, "svm": 400, "btree@regular": 3000}
"""A candidate of the first takes ten times as long as others', the proofs of the second take most of the time; the third is quick and
not found soon."""
QUICK = 60
THIRTEEN = (
    "bfs", "btree", "euler3d", "gaussian", "heartwall", "hotspot", "lud", "nn", "nw", "particlefilter", "pathfinder",
    "srad", "streamcluster",
)  # fmt: skip
LEARNING = ("svm", "sgd")
PROGRAMS = (*THIRTEEN, *LEARNING)
REGULAR = ("btree", "hotspot")
"""Those of which there is data with the regularities of the paper's."""
RATE_BOUNDS = {"hotspot": 25.0, "nw": 10.0}
MOST_SECONDS = 900.0


@dataclass(frozen=True)
class Arm:
    """One way of searching, as flags of ``kw evolve``."""

    name: str
    flags: tuple[str, ...]


ARMS = (
    Arm("found", ("--accept", "any")),
    Arm("clean", ("--accept", "clean")),
    Arm("within", ("--accept", "any", "--tolerance", "gevo 1%", "--objectives", "time,error")),
    Arm("gevo", ("--accept", "any", "--preset", "gevo", "--population", "64")),
)


def measure(quick: bool, say: Say, names: Sequence[str] = (), arms: Sequence[str] = ()) -> Measured:
    """All programs and ways of searching; ``quick``: two programs; ``names``, ``arms``: these alone. Promises are of all programs, and
    each of its own way of searching. Times are estimates. Raises ``Misuse`` for a program or a way that is none."""
    result = Measured("evolve")
    for what, given, known in (("program", names, PROGRAMS), ("arm", arms, [arm.name for arm in ARMS])):
        if unknown := [name for name in given if name not in known]:
            raise Misuse(f"evolve has no {what} {unknown[0]!r}", hint=f"one of {', '.join(known)}")
    programs = names or (("hotspot", "pathfinder") if quick else PROGRAMS)
    chosen = [arm for arm in ARMS if arm.name in arms or not arms]
    for program, arm in product(programs, chosen):
        say(f"{program}, {arm.name}")
        result.rows.append(row_of(program, arm, QUICK if quick else OTHER_BUDGETS.get(program, EVALUATIONS)))
    if quick or names:
        for arm in chosen:
            result.notes += mean_gains([row for row in result.rows if row["arm"] == arm.name], f"arm {arm.name}")
    else:
        for program, arm in product(REGULAR, [arm for arm in (ARMS[0], ARMS[2]) if arm in chosen]):
            name = f"{program}@regular"
            say(f"{name}, {arm.name}")
            result.rows.append(row_of(name, arm, OTHER_BUDGETS.get(name, EVALUATIONS)))
        _promise(result, [arm.name for arm in chosen])
    return result


def row_of(program: str, arm: Arm, evaluations: int, seed: int = 1) -> Row:
    """One run, made now unless it is there."""
    stem = f"{program.replace('@', '-')}-{arm.name}-{evaluations}-seed{seed}"
    with kept_run(KEPT, stem, program, evaluations, seed, arm.flags) as run:
        return _row(program, arm, seed, run)


def kept_run(
    kept: Path, stem: str, program: str, evaluations: int, seed: int, flags: tuple[str, ...] = ()
) -> EvolveRun:
    """A finished run of a suite program, open; searched now, or gone on with, unless it lies in ``kept`` already. Raises
    ``ToolError`` when it does not come to its end."""
    name = f"{stem}-1"
    folder = kept / FOLDER / name
    run = finished(folder)
    if run is None:
        given = ["--resume", f"{FOLDER}/{name}", "--jobs", str(_cores())] if (folder / JOURNAL).is_file() else [
            f"suite:{program}", "--name", name, "--seed", str(seed), "--evaluations", str(evaluations), "--no-report", *flags,
        ]  # fmt: skip
        kept.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "kernelwright", "evolve", *given, "--json"]
        done = subprocess.run(command, cwd=kept, capture_output=True, text=True)
        run = finished(folder)
        if run is None:
            last = (done.stderr or done.stdout).strip().splitlines()
            raise ToolError(
                f"{' '.join(command[1:])} fails: {last[-2:] if last else done.returncode}", hint=f"in {kept}"
            )
    return run


def finished(folder: Path) -> EvolveRun | None:
    """A run that has come to its end, open; None when there is none."""
    if not (folder / JOURNAL).is_file():
        return None
    run = EvolveRun.open(folder, GENOMES)
    if run.ended is None:
        run.close()
        return None
    return run


def _row(program: str, arm: Arm, seed: int, run: EvolveRun) -> Row:
    rows = list(run.searched())
    best = run.best
    proof = (run.proof(best.name) if best else None) or {}
    speedup = best.speedup if best else 1.0
    label = proof.get("label", "unproven" if best else "-")
    tried = [row for row in rows if not row.phase.startswith("prove")]  # between those, proofs take their time
    seconds = tried[-1].at - tried[0].at if len(tried) > 1 else 0.0
    accepted = sum(isinstance(row.outcome, Ok) for row in rows)
    return {
        "program": program,
        "arm": arm.name,
        "as GEVO would": round(max(run.fastest_trained[1], speedup), 3),
        "best": round(speedup, 3),
        "label": label,
        "proven": round(run.proven.speedup, 3) if run.proven else 1.0,
        **claims(run),
        "by set": " ".join(f"{gain.speedup:.3f}" for gain in run.gains(best) if gain.speedup) if best else "",
        "solver s": solver_seconds(run),
        "error": float(f"{best.outcome.error:.2g}") if best else 0.0,
        "edits": len(best.candidate) if best else 0,
        "evaluations": len(rows),
        "generations": max((row.facts.get("generation", 0) for row in rows), default=0),
        "accepted %": round(100 * accepted / max(len(rows), 1), 1),
        "variants/s": round(len(tried) / seconds, 1) if seconds else None,
        "seconds": round(run.journal.events("end")[-1].at - run.journal.sessions[0].at)
        if len(run.journal.sessions) == 1
        else None,
        "seed": seed,
    }


CLAIMS = ("exact", "clean", "proven")
"""What is claimed of a variant: right on the training cases, a proof that found nothing, a proof that holds for every launch."""
_LABELS = {"exact": None, "clean": ("clean", "proven"), "proven": ("proven",)}


HOW = (
    "under checks", "for any size", "for any input",
    "under checks, launches", "for any size, launches", "for any input, launches",
)  # fmt: skip
"""How a claim holds, in the order of a row's figures: with launch-time checks, as the program runs it that has the fastest inside and,
where no launch of a data set fits that, the fastest for any size; with none that asks for one value (``--general``), without
any; kernels alone, or with launch cost."""


def claims(run: EvolveRun) -> dict[str, list[float]]:
    """By claim, the speed-ups of the fastest accepted variants of which it can be said, in the order of ``HOW``; 1 where there is none,
    as the original. Only what a run has proven has a label, and what counts as without checks has no edit that alone asks for any: it is at
    least that fast."""
    found: dict[str, list[float]] = {}
    accepted = sorted(run.accepted, key=lambda each: -each.speedup)
    own = own_blocks_of(run)
    labels = {each.name: (run.proof(each.name) or {}).get("label") for each in accepted}
    originals = GENOMES.of(run).originals

    @cache
    def asks(gene: Gene) -> bool:
        return bool(apply(originals[gene.kernel], (gene.edit,)).guards)

    for claim in CLAIMS:
        some = [each for each in accepted if each.candidate and _is_claimed(claim, labels[each.name])]
        best = (
            next(iter(some), None),
            next((each for each in some if not fixes_launch(each.candidate, own)), None),
            next((each for each in some if not any(map(asks, each.candidate))), None),
        )
        alone = [round(each.speedup, 3) if each is not None else 1.0 for each in best]
        if best[0] is not None and best[1] is not None:
            alone[0] = max(alone[0], round(run.together(best[0], best[1]), 3))
        found[f"claimed {claim}"] = [*alone, *(_with_launches(run.original, each) for each in best)]
    return found


def _is_claimed(claim: str, label: str | None) -> bool:
    wanted = _LABELS[claim]
    return wanted is None or label in wanted


def _with_launches(original: Ok | None, found: Found[Genes] | None) -> float:
    """The speed-up of all data sets together, with what launching costs."""
    if original is None or found is None:
        return 1.0
    before, after = (each.metrics.get("with_launches_us", 0.0) for each in (original, found.outcome))
    return round(before / after, 3) if before and after else 1.0


def solver_seconds(run: EvolveRun) -> float | None:
    """The median of what the solver took for a variant, over those of the run that were asked what they owe; None for none."""
    owed = [event.data.get("obligations") or () for event in run.journal.events("proof")]
    took = [sum(one.get("seconds", 0.0) for one in some) for some in owed if some]
    return round(statistics.median(took), 2) if took else None


def _promise(result: Measured, arms: Sequence[str]) -> None:
    def rows(arm: str, programs: tuple[str, ...] = THIRTEEN) -> list[Row]:
        return [row for row in result.rows if row["arm"] == arm and row["program"] in programs]

    for arm, what, mark in (("found", "exact", 49), ("within", "within 1 %", 51)):
        if arm in arms:
            _promise_as_published(result, rows(arm), what, mark)
    if "clean" in arms:
        _promise_of_clean(result, rows("clean"))
    result.notes += [line for arm in ("clean", "found") if arm in arms for line in mean_gains(rows(arm), f"arm {arm}")]
    if "found" in arms:
        for program, bound in RATE_BOUNDS.items():
            fastest = max((r["variants/s"] or 0.0 for r in rows("found") if r["program"] == program), default=0.0)
            result.at_least(f"variants per second, {program}", fastest, bound)
    if {"found", "gevo"} <= {*arms}:
        found, control = (
            statistics.geometric_mean([r["as GEVO would"] for r in rows(arm)]) for arm in ("found", "gevo")
        )
        result.at_least("default over gevo at equal evaluations, geometric mean of speed-ups", found / control, 1.0)
    result.at_most("longest run, s", max((r["seconds"] or 0.0 for r in result.rows), default=0.0), MOST_SECONDS)


def _percent(speed_ups: Sequence[float]) -> float:
    """The mean gain."""
    return 100 * (statistics.fmean(speed_ups) - 1)


def _promise_as_published(result: Measured, rows: list[Row], what: str, mark: float) -> None:
    """As paper 000 counts: the best on the training cases, whatever it depends on; means of gains."""
    own = {row["program"]: row["as GEVO would"] for row in rows}
    regular = {
        row["program"].partition("@")[0]: row["as GEVO would"]
        for row in result.rows
        if row["arm"] == rows[0]["arm"] and "@" in row["program"]
    }
    result.at_least(f"mean gain as GEVO would report it, {what}, %", _percent([*own.values()]), mark)
    result.notes.append(
        f"as GEVO would report it, {what}: {_percent([*(own | regular).values()]):.1f} % with regular data for "
        f"{', '.join(f'{p} ({own[p]:.2f} on its own, {regular[p]:.2f} there)' for p in REGULAR)}"
    )
    result.notes.append(f"{what}, without the program that gains most: {_percent(sorted(own.values())[:-1]):.1f} %")


def _promise_of_clean(result: Measured, rows: list[Row]) -> None:
    clean = [row["best"] if row["label"] in ("proven", "clean") else 1.0 for row in rows]
    result.at_least("mean gain, clean, %", _percent(clean), 11)
    if _percent(clean) > 0:
        share = 100 * _percent([row["proven"] for row in rows]) / _percent(clean)
        result.at_least("share of the clean gain that is proven, %", share, 50)
    for claim, (number, how) in product(CLAIMS, enumerate(HOW)):
        if (mark := MARKS.get(f"{claim} {how}")) is not None:
            result.at_least(f"geometric mean gain, {claim} {how}, %", _geometric(rows, claim, number), mark)
    took = [row["solver s"] for row in rows if row["solver s"] is not None]
    if took:
        result.at_most("median solver time per variant, s", statistics.median(took), 10.0)
    result.notes.append(f"clean, without the program that gains most: {_percent(sorted(clean)[:-1]):.1f} %")


def _geometric(rows: list[Row], claim: str, number: int) -> float:
    return 100 * (statistics.geometric_mean([float(row[f"claimed {claim}"][number]) for row in rows]) - 1)


MARKS = {"proven for any size": 20.0, "clean under checks": 35.0, "exact under checks": 50.0}
"""Geometric means that are aimed at, in per cent."""


def mean_gains(rows: list[Row], title: str) -> list[str]:
    """A line for each claim: geometric means of the speed-ups as gains in per cent, over all programs and without the one that gains
    most."""

    def percent(values: list[float]) -> str:
        return f"{100 * (statistics.geometric_mean(values) - 1):.1f}" if values else "-"

    lines = []
    for claim, (number, how) in product(CLAIMS if rows else (), enumerate(HOW)):
        values = sorted(float(row[f"claimed {claim}"][number]) for row in rows)
        name = f"{claim} {how}"
        aim = f" (to reach: {MARKS[name]:.0f})" if name in MARKS else ""
        lines.append(
            f"{title}, {name}, %: {percent(values)}{aim}, without the program that gains most {percent(values[:-1])}"
        )
    return lines


def _cores() -> int:
    return len(os.sched_getaffinity(0))
