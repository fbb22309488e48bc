"""left-out.svg: what thresholds do for sizes that they were never tuned on, of the last result of `kw bench tune-sizes`.

python docs/images/make_left_out.py         draws it anew, after `kw bench tune-sizes --json > benchmarks/results/DATE-tune-sizes.json`
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "benchmarks" / "results"
BLUE, ORANGE, SOFT, INK = "#4878a8", "#d08030", "#bbbbbb", "#777777"
SAME = 1.01


def rows() -> list[dict[str, Any]]:
    """Of the last result."""
    found: list[dict[str, Any]] = json.loads(max(RESULTS.glob("*-tune-sizes.json")).read_text())["rows"]
    return found


def digest(rows: list[dict[str, Any]]) -> str:
    """Of what is shown; it stands in the picture."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def drawn(rows: list[dict[str, Any]]) -> str:
    """A column for each program, with a mark for each size left out: its time over its best."""
    from matplotlib.figure import Figure
    from svg_text import svg_text

    programs = list(dict.fromkeys(row["program"] for row in rows))
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    axes = figure.subplots()
    kinds = (
        ("untuned", SOFT, "_", 90, [(row, row["untuned us"] / row["best us"]) for row in rows]),
        (
            "thresholds of the other sizes: best",
            BLUE,
            "o",
            26,
            [(r, r["of its best"]) for r in rows if r["of its best"] <= SAME],
        ),
        ("... not best", ORANGE, "D", 26, [(r, r["of its best"]) for r in rows if r["of its best"] > SAME]),
    )
    for label, colour, marker, size, points in kinds:
        x = []
        for row, _ in points:
            own = [r["size left out"] for r in rows if r["program"] == row["program"]]
            x.append(
                programs.index(row["program"]) + 0.6 * (own.index(row["size left out"]) / max(len(own) - 1, 1) - 0.5)
            )
        axes.scatter(x, [y for _, y in points], s=size, color=colour, marker=marker, label=label, zorder=3)
    axes.set_yscale("log", base=2)
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"], color=INK)
    axes.set_ylabel("time, of the size's best", color=INK)
    axes.set_xticks(range(len(programs)), programs, rotation=30, ha="right", color=INK)
    axes.axhline(1.0, color=INK, linewidth=0.8)
    axes.grid(color=SOFT, linewidth=0.4, axis="y")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.legend(frameon=False, labelcolor=INK, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderpad=0.0)
    return svg_text(figure, digest(rows))


if __name__ == "__main__":
    (HERE / "left-out.svg").write_text(drawn(rows()))
