"""A run of breeding as one self-contained page: the best program, how it was come to, and what was rejected.

    write_bred_page(run, run.folder / "report.html", simplified_best(run))

It shows what the journal recorded, and the best program simplified, where that is given; how it reads is in ``breeding.html.jinja``.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from kernelwright.breeding.run import Bred, BreedRun
from kernelwright.breeding.simplified import Simplified
from kernelwright.breeding.speed import speed_of
from kernelwright.breeding.worker_judge import FITNESS
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.report import figures
from kernelwright.report.page_file import written
from kernelwright.report.style_sheet import STYLE

TEMPLATE = Path(__file__).with_name("breeding.html.jinja")
SHOWN = 10
"""Programs in the table of the best."""


def write_bred_page(run: BreedRun, target: Path, simple: Simplified | None = None) -> Path:
    """Writes the page. ``simple``: the best program simplified, or why it is not. Raises ``ToolError`` where it cannot be written."""
    return written(bred_page(run, simple), target)


def bred_page(run: BreedRun, simple: Simplified | None = None) -> str:
    """The page of a run as HTML, also of one that is not at its end."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    facts = run.journal.sessions[0].facts
    best = run.best
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        run=run, style=STYLE, title=_title(run, best), best=best, readable=run.readable(best) if best else "",
        simple=simple or Simplified(),
        found=_best(run), rejected=_rejected(run), plot=_plot(run), speed=speed_of(run.journal),
        settings=run.settings, count=len(run.journal), command=_command(run), resume=run.open_end,
        versions=sorted((str(k), str(v)) for k, v in dict(facts.get("versions") or {}).items()),
    )  # fmt: skip


def _title(run: BreedRun, best: Bred | None) -> str:
    if best is None:
        return "no program has a fitness"
    reached = run.target is not None and run.reaches(best.fitness)
    target = "" if run.target is None else ", which is the target" if reached else f", the target is {run.target:g}"
    return f"fitness {best.fitness:g}{target}"


def _best(run: BreedRun) -> list[Bred]:
    """The best programs, each fitness once: programs that are worth the same mostly say the same."""
    of_fitness: dict[float, Bred] = {}
    for row in run.rows():
        if isinstance(row.outcome, Ok):
            each = Bred(str(row.candidate), row.outcome.metrics[FITNESS], f"v{row.id}")
            held = of_fitness.get(each.fitness)
            if held is None or run.beats(each, held):
                of_fitness[each.fitness] = each
    ordered = sorted(of_fitness.values(), key=lambda each: each.fitness, reverse=run.goal == "most")
    return ordered[:SHOWN]


def _rejected(run: BreedRun) -> list[tuple[str, int, str]]:
    """By stage: how many, and why the first was."""
    firsts: dict[str, str] = {}
    for row in run.rows():
        if isinstance(row.outcome, Rejected):
            firsts.setdefault(row.outcome.stage, row.outcome.reason)
    return [(stage, count, firsts.get(stage, "")) for stage, count in run.journal.rejected().items()]


def _plot(run: BreedRun) -> str:
    """The best fitness after each generation, and the target; empty for fewer than two generations, and where there are figures below
    0, from which the axis begins."""
    points = [(float(each["n"]), float(each["best"]["fitness"])) for each in run.generations if each.get("best")]
    if len(points) < 2 or min(fitness for _, fitness in points) < 0:
        return ""
    ends = (points[0][0], points[-1][0])
    target = {"target": [(n, run.target) for n in ends]} if run.target is not None and run.target >= 0 else {}
    return figures.curves({"best": points, **target}, "generation", "fitness")


def _command(run: BreedRun) -> str:
    """One that makes the run again, as far as a command line can say it."""
    settings = run.settings
    given: list[tuple[str, Any]] = [
        ("--seed", settings.seed), ("--backend", settings.backend), ("--generations", settings.generations),
        ("--population", settings.dials.population), ("--target", settings.target),
    ]  # fmt: skip
    words = [word for name, value in given if value is not None for word in (name, f"{value}")]
    return shlex.join(["kw", "breed", str(run.problem_path), *words])
