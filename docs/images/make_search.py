"""search.svg: the best so far by candidates tried, of the last result of `kw bench search`.

    python docs/images/make_search.py           draws it anew, after `kw bench search --json > benchmarks/results/DATE-search.json`

A line is the geometric mean over the seeds, the band goes from the worst seed to the best. Single marks are runs of a smaller budget.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "benchmarks" / "results"
ARMS = {"default": ("#4878a8", "-", "o"), "control": ("#d08030", "--", "s"), "random": ("#777777", ":", "D")}
SOFT, INK = "#bbbbbb", "#777777"
MEAN = "geometric mean"


def rows() -> list[dict[str, Any]]:
    """Of the last result."""
    found: list[dict[str, Any]] = json.loads(max(RESULTS.glob("*-search.json")).read_text())["rows"]
    return found


def digest(rows: list[dict[str, Any]]) -> str:
    """Of what is shown; it stands in the picture."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def by_seed(row: dict[str, Any], arm: str) -> list[float]:
    return [float(value) for value in row[f"{arm}, by seed"].split()]


def points(rows: list[dict[str, Any]], panel: str, budget: int, arm: str) -> list[tuple[int, list[float]]]:
    """By number of candidates: the best of each seed, of one program or as the mean over all of them."""
    chosen = [row for row in rows if row["evaluations"] == budget and panel in (row["program"], MEAN)]
    found = []
    for count in sorted({row["candidates"] for row in chosen}):
        some = [by_seed(row, arm) for row in chosen if row["candidates"] == count]
        found.append((count, [statistics.geometric_mean(values) for values in zip(*some, strict=True)]))
    return found


def drawn(rows: list[dict[str, Any]]) -> str:
    """A panel for each program, and one for the mean where there are several."""
    from matplotlib.figure import Figure
    from svg_text import svg_text

    programs = list(dict.fromkeys(row["program"] for row in rows))
    panels = [*programs, *([MEAN] if len(programs) > 1 else [])]
    whole = max(row["evaluations"] for row in rows)
    figure = Figure(figsize=(max(3.2 * len(panels), 6.0), 3.2), layout="constrained")
    for place, (axes, panel) in enumerate(zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True)):
        for arm, (colour, style, marker) in ARMS.items():
            curve = points(rows, panel, whole, arm)
            x, values = [count for count, _ in curve], [seeds for _, seeds in curve]
            axes.fill_between(
                x, [min(v) for v in values], [max(v) for v in values], color=colour, alpha=0.15, linewidth=0
            )
            axes.plot(
                x, [statistics.geometric_mean(v) for v in values], color=colour, linestyle=style, marker=marker,
                markersize=4, linewidth=1.6, label=arm,
            )  # fmt: skip
            for budget in sorted({row["evaluations"] for row in rows} - {whole}) if arm != "random" else ():
                ((count, apart),) = points(rows, panel, budget, arm)
                axes.scatter([count], [statistics.geometric_mean(apart)], color=colour, marker="x", s=34, zorder=4)
        axes.set_xscale("log")
        ticks = [count for count, _ in points(rows, panel, whole, "default")]
        axes.set_xticks(ticks, [f"{count:,}" for count in ticks], color=INK)
        axes.minorticks_off()
        axes.tick_params(colors=INK)
        axes.set_title(panel, color=INK, fontsize=10)
        axes.set_xlabel("candidates", color=INK)
        axes.grid(color=SOFT, linewidth=0.4)
        for side in axes.spines.values():
            side.set_visible(False)
        if not place:
            axes.set_ylabel("best speed-up so far", color=INK)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, labelcolor=INK, loc="outside upper left", ncols=3)
    return svg_text(figure, digest(rows))


if __name__ == "__main__":
    (HERE / "search.svg").write_text(drawn(rows()))
