"""Plots of a run as SVG, small enough for a page: white or transparent ground, readable on a phone and in print."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

INK, SOFT = "#777777", "#bbbbbb"
BLUE, ORANGE = "#4878a8", "#d08030"
LABEL_COLOURS: Mapping[str, str] = {
    "clean": "#3a8f4c",
    "benign": "#8fae3a",
    "lock-step only": "#d0a030",
    "data-specific": "#d08030",
    "schedule-dependent": "#c04040",
    "wrong": "#802020",
    "unproven": "#999999",
}
"""From the best label to the worst; distinguishable without colour by the legend's order."""


def convergence(best: Sequence[tuple[int, float]], trained: Sequence[tuple[int, float]]) -> str:
    """Best speed-up against evaluations: of what was accepted, and of whatever was right on the training cases."""
    figure, axes = _axes("candidates evaluated", "best speed-up")
    for points, colour, name in ((trained, ORANGE, "right on the training cases"), (best, BLUE, "accepted")):
        if points:
            x, y = zip(*points, strict=True)
            axes.step(x, y, where="post", color=colour, label=name, linewidth=1.8)
    if best or trained:
        axes.legend(frameon=False)
    return _svg(figure)


def front(points: Sequence[tuple[float, float, str]], across: str) -> str:
    """Speed-up against ``across`` (error, or the number of edits): one dot per variant, coloured by label."""
    figure, axes = _axes(across, "speed-up")
    for label, colour in LABEL_COLOURS.items():
        some = [(x, y) for x, y, own in points if own == label]
        if some:
            x, y = zip(*some, strict=True)
            axes.scatter(x, y, s=28 if label != "unproven" else 10, color=colour, label=label, zorder=3)
    axes.legend(frameon=False)
    return _svg(figure)


def causes(rejected: Mapping[str, int], accepted: int) -> str:
    """How many candidates were turned down at each stage, and how many were not."""
    named = [("accepted", accepted), *sorted(rejected.items(), key=lambda item: -item[1])]
    figure, axes = _axes("candidates", "", height=0.5 + 0.28 * len(named))
    names = [name for name, _ in named][::-1]
    counts = [count for _, count in named][::-1]
    bars = axes.barh(names, counts, color=[BLUE if name == "accepted" else SOFT for name in names])
    axes.bar_label(bars, padding=3, color=INK)
    axes.grid(visible=False)
    return _svg(figure)


def edits_by_generation(rows: Sequence[tuple[int, float, int]]) -> str:
    """Edits of the accepted variants, by generation: the mean and the most."""
    figure, axes = _axes("generation", "edits")
    x = [generation for generation, _, _ in rows]
    axes.plot(x, [mean for _, mean, _ in rows], color=BLUE, label="mean")
    axes.plot(x, [most for _, _, most in rows], color=SOFT, label="most")
    axes.legend(frameon=False)
    return _svg(figure)


def _axes(across: str, up: str, height: float = 2.6) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # takes half a second, and most commands draw nothing

    figure = Figure(figsize=(6.0, height), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.tick_params(colors=INK)
    axes.grid(color=SOFT, linewidth=0.4)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    """The figure as an element of a page: as wide as the page, the same text for the same figure."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "kernelwright", "svg.fonttype": "none", "font.size": 10}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" ([^>]*?)height="[^"]*"|<svg ([^>]*?)height="[^"]*" ([^>]*?)width="[^"]*"',
        r"<svg \1\2\3\4",
        text,
        count=1,
    )
