"""A run of tuning as one self-contained page: the forest, the thresholds that are best for each dataset, who won where.

    write_tuning_page(run, run.folder / "report.html")

It shows what the journal recorded at the end of the run, and nothing else; how it reads is in ``tuning.html.jinja``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import Run
from kernelwright.report import figures
from kernelwright.report.page_file import written
from kernelwright.report.style_sheet import STYLE

TEMPLATE = Path(__file__).with_name("tuning.html.jinja")
NEVER = 2**63 - 1
"""A threshold that is never reached, as threshold files have it."""


def write_tuning_page(run: Run[Any], target: Path) -> Path:
    """Writes the page. Raises ``Misuse`` for a run that is not at its end, ``ToolError`` for a file that cannot be written."""
    return written(tuning_page(run), target)


def tuning_page(run: Run[Any]) -> str:
    """The page of a run as HTML. Raises ``Misuse`` for one that is not at its end."""
    found = run.ended
    if found is None:
        raise Misuse(f"{run.name} is not at its end", hint=f"{run.resuming} {run.folder}")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    guards = list(found["thresholds"])
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        run=run, about=run.facts["tuned"], found=found, style=STYLE, never=NEVER, title=_title(found),
        plots=[(guard, plot) for guard in guards if (plot := _plot(found, guard))],
        rows=[_row(dataset) for dataset in found["datasets"]],
        left_out=_left_out(found["left_out"]),
    )  # fmt: skip


def _title(found: Mapping[str, Any]) -> str:
    datasets = found["datasets"]
    served = sum(dataset["served"] for dataset in datasets)
    what = "one threshold" if len(found["thresholds"]) == 1 else f"{len(found['thresholds'])} thresholds"
    return f"{what}, best for {'all' if served == len(datasets) else served} of {len(datasets)} datasets"


def _plot(found: Mapping[str, Any], guard: str) -> str:
    """The intervals of one guard, of the datasets that met it; empty where none did."""
    rows = [
        (dataset["name"], *decision["interval"])
        for dataset in found["datasets"]
        for decision in dataset["decisions"]
        if decision["guard"] == guard
    ]
    value = found["thresholds"][guard]
    ends = [end for _, *both in rows for end in both if end is not None]
    if ends and max(ends) < 0:  # a guard of small numbers, which compares them negated
        rows = [(name, negated(upto), negated(above)) for name, above, upto in rows]
        return figures.intervals(rows, 0.0 if value == NEVER else -float(value), f"{guard}, negated")
    return figures.intervals(rows, None if value == NEVER else float(value), guard) if rows else ""


def negated(end: float | None) -> float | None:
    """``None``: no bound."""
    return None if end is None else -end


def _row(dataset: Mapping[str, Any]) -> dict[str, Any]:
    """A dataset in the table of who won."""
    untuned, tuned = dataset["untuned_us"], dataset["tuned_us"]
    decided = [(d["guard"], d["verdict"], _share(d)) for d in dataset["decisions"]]
    return {**dataset, "gain": untuned / tuned if untuned and tuned else None, "decided": decided}


def _share(decision: Mapping[str, Any]) -> float | None:
    """How many times as fast the best candidate of a guard was as the next outside of its interval; None where there was none."""
    above, upto = decision["interval"]
    inside: list[float] = []
    outside: list[float] = []
    for tried in decision["tried"]:
        if tried["time_us"] is not None:
            threshold = tried["threshold"]
            is_inside = (above is None or threshold > above) and (upto is None or threshold <= upto)
            (inside if is_inside else outside).append(tried["time_us"])
    return min(outside) / min(inside) if inside and outside and min(inside) > 0 else None


def _left_out(rows: list[Mapping[str, Any]]) -> str:
    return figures.left_out(left_out_shares(rows)) if rows else ""


def left_out_shares(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, float | None]]:
    """Of each dataset left out, its time with thresholds of the others over its best; None where it failed or was not run, or the best
    is 0."""

    def share(found_us: float | None, best_us: float) -> float | None:
        if found_us is None or not best_us:
            return None if found_us is None or found_us else 1.0
        return found_us / best_us

    return [(row["name"], share(row["found_us"], row["best_us"])) for row in rows]
