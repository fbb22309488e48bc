"""Plots of a run as SVG, small enough for a page: white or transparent ground, readable on a phone and in print."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

INK, SOFT = "#777777", "#bbbbbb"
BLUE, ORANGE = "#4878a8", "#d08030"
LABEL_COLOURS: Mapping[str, str] = {
    "proven": "#1f6f5f",
    "clean": "#3a8f4c",
    "as safe as the original": "#6a9f3a",
    "benign": "#a8a83a",
    "lock-step only": "#d0a030",
    "data-specific": "#d08030",
    "schedule-dependent": "#c04040",
    "wrong": "#802020",
    "unproven": "#999999",
}
"""From the best label to the worst; distinguishable without colour by the legend's order."""

TERM_COLOURS = (BLUE, ORANGE, "#3a8f4c", "#a04878", "#555555", "#a8a83a", "#58b0b0")


def convergence(best: Sequence[tuple[int, float]], trained: Sequence[tuple[int, float]]) -> str:
    """Best speed-up against evaluations: of what was accepted, and of whatever was right on the training cases."""
    figure, axes = _axes("candidates evaluated", "best speed-up")
    lines = ((best, BLUE, "-", "accepted"), (trained, ORANGE, ":", "right on the training cases"))
    for points, colour, style, name in lines:
        if points:
            x, y = zip(*points, strict=True)
            axes.step(x, y, where="post", color=colour, label=name, linewidth=1.8, linestyle=style)
    _legend(axes)
    return _svg(figure, "convergence")


def front(points: Sequence[tuple[float, float, str]], across: str, best: tuple[float, float] | None = None) -> str:
    """Speed-up against ``across`` (error, or the number of edits): one dot per variant, coloured by label; a ring around the ``best``."""
    figure, axes = _axes(across, "speed-up")
    for label, colour in LABEL_COLOURS.items():
        some = [(x, y) for x, y, own in points if own == label]
        if some:
            x, y = zip(*some, strict=True)
            axes.scatter(x, y, s=28 if label != "unproven" else 10, color=colour, label=label, zorder=3)
    if best is not None:
        ring = {"facecolors": "none", "edgecolors": ORANGE, "linewidths": 1.8}
        axes.scatter([best[0]], [best[1]], s=110, label="the best", zorder=4, **ring)
    if across != "error":
        axes.set_xlim(0.5, max(x for x, _, _ in points) + 0.5)
    _legend(axes)
    return _svg(figure, "front")


def measured_and_estimated(points: Sequence[tuple[float, float, str]]) -> str:
    """Estimated against measured time of variants, in microseconds on logarithmic axes: a dot each, coloured by the term that bounds it."""
    figure, axes = _axes("measured us", "estimated us, after one scale")
    figure.set_size_inches(5.0, 4.4)
    terms = sorted({term for _, _, term in points}, key=lambda t: (-sum(p[2] == t for p in points), t))
    ends = min(min(x, y) for x, y, _ in points) / 1.1, max(max(x, y) for x, y, _ in points) * 1.1
    axes.plot(ends, ends, color=SOFT, linewidth=1.0, zorder=1)
    for place, term in enumerate(terms):
        x, y = zip(*((x, y) for x, y, own in points if own == term), strict=True)
        axes.scatter(
            x, y, s=22, color=TERM_COLOURS[place % len(TERM_COLOURS)], marker="os^D"[place % 4], label=term, zorder=3
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_aspect("equal")
    _legend(axes)
    return _svg(figure, "measured-and-estimated")


def roofline(roofs: Mapping[str, float], issue: float, rate: float, intensity: Mapping[str, float], name: str) -> str:
    """Warp instructions a second, in thousand millions, over warp instructions a sector, on logarithmic axes. ``roofs``: thousand
    millions of sectors a second by level; ``issue``: the flat roof; ``rate`` and ``intensity``: the kernel's, by level."""
    figure, axes = _axes("warp instructions a 32-byte sector", "10⁹ warp instructions a second")
    low = min([*intensity.values(), *(issue / each for each in roofs.values())]) / 4
    high = max([*intensity.values(), *(issue / each for each in roofs.values())]) * 4
    axes.plot((low, high), (issue, issue), color=INK, linewidth=1.2, label="issue")
    for place, (level, sectors) in enumerate(roofs.items()):
        colour = TERM_COLOURS[place]
        axes.plot((low, issue / sectors), (low * sectors, issue), color=colour, linewidth=1.2, label=level)
        if level in intensity:
            axes.scatter([intensity[level]], [rate], s=36, color=colour, marker="osd"[place % 3], zorder=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(min(rate, low * min(roofs.values())) / 2, issue * 2)
    _legend(axes, columns=4)
    return _svg(figure, f"roofline-{name}")


def left_out(rows: Sequence[tuple[str, float | None]]) -> str:
    """Of each dataset, its time with thresholds of the others as a share of its best: 1 is best, None failed or was not run."""
    figure, axes = _axes("dataset left out", "time, of its best")
    names = [name for name, _ in rows]
    shares = [share if share is not None else 0.0 for _, share in rows]
    axes.bar(range(len(rows)), shares, color=[BLUE if share <= 1.01 else ORANGE for share in shares], width=0.6)
    axes.axhline(1.0, color=INK, linewidth=1.0)
    axes.set_xticks(range(len(rows)), [_short(name) for name in names], rotation=30, ha="right")
    return _svg(figure, "left-out")


def intervals(rows: Sequence[tuple[str, float | None, float | None]], chosen: float | None, guard: str) -> str:
    """A bar for each dataset: the thresholds of ``guard`` that are best for it, above the first number and up to the second (None: no
    bound). ``chosen``: the threshold that was picked, None: never taken. The axis is logarithmic."""
    inside = [x for _, above, upto in rows for x in (above, upto) if x is not None and x > 0]
    inside += [chosen] if chosen is not None and chosen > 0 else []
    low, high = min(inside, default=1.0) / 4, max(inside, default=1.0) * 4
    figure, axes = _axes(f"threshold of {guard}", "")
    figure.set_size_inches(5.0, 1.0 + 0.32 * len(rows))
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    for place, (_, above, upto) in enumerate(rows):
        begin = low if above is None or above <= low else above
        end = high if upto is None else max(upto, low)
        axes.barh(place, end - begin, left=begin, height=0.55, color=BLUE)
    if chosen is not None:
        axes.axvline(max(chosen, low), color=ORANGE, linewidth=1.8)
    axes.set_yticks(range(len(rows)), [_short(name) for name, _, _ in rows])
    axes.invert_yaxis()
    return _svg(figure, f"intervals-{re.sub(r'[^A-Za-z0-9]+', '-', guard)}")


def edits_by_generation(rows: Sequence[tuple[int, float, int]]) -> str:
    """Edits of the accepted variants, by generation: the mean and the most."""
    figure, axes = _axes("generation", "edits")
    x = [generation for generation, _, _ in rows]
    axes.plot(x, [mean for _, mean, _ in rows], color=BLUE, label="mean")
    axes.plot(x, [most for _, _, most in rows], color=SOFT, label="most")
    _legend(axes)
    return _svg(figure, "edits")


def fittest_by_generation(rows: Sequence[tuple[int, float, float]]) -> str:
    """Time of the fittest in microseconds, by generation, and beside it its error in per cent, where there is any."""
    figure, axes = _axes("generation", "time of the fittest, us")
    x = [generation for generation, _, _ in rows]
    axes.plot(x, [us for _, us, _ in rows], color=BLUE, label="time", linewidth=1.8, marker="o", markersize=4)
    if any(error for _, _, error in rows):
        beside = axes.twinx()
        beside.plot(
            x,
            [100 * error for _, _, error in rows],
            color=ORANGE,
            linestyle=":",
            linewidth=1.8,
            marker="D",
            markersize=3,
        )
        beside.set_ylabel("error, %", color=INK)
        beside.tick_params(colors=INK)
        for side in beside.spines.values():
            side.set_visible(False)
        axes.plot([], [], color=ORANGE, label="error", linestyle=":", linewidth=1.8, marker="D", markersize=3)
    _legend(axes)
    return _svg(figure, "fittest")


def curves(series: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str) -> str:
    """One line for each name."""
    figure, axes = _axes(across, up)
    for number, (name, points) in enumerate(series.items()):
        x, y = zip(*points, strict=True)
        axes.plot(x, y, marker="osd^v<>"[number % 7], markersize=4, label=name, linewidth=1.5)
    axes.set_ylim(bottom=0)
    _legend(axes)
    return _svg(figure, "curves")


def _short(name: str) -> str:
    """A name that leaves room for the plot: the end of a long path."""
    return name if len(name) <= 24 else f"…{name[-23:]}"


def _axes(across: str, up: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # takes half a second, and most commands draw nothing
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(5.0, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.tick_params(colors=INK)
    axes.grid(color=SOFT, linewidth=0.4)
    if across != "error":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for side in axes.spines.values():
        side.set_visible(False)
    return figure, axes


def _legend(axes: Any, columns: int = 3) -> None:
    """Above the plot, where nothing is drawn."""
    axes.legend(
        frameon=False, labelcolor=INK, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderpad=0.0
    )


def _svg(figure: Any, name: str) -> str:
    """The figure as an element of a page: as wide as the page, the same text for the same figure. ``name`` tells what
    its elements are called apart from those of the page's other figures."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "kernelwright", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], count=1, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    opening, rest = text.split(">", 1)
    kept = re.sub(r'\s(?:width|height|xmlns(?::\w+)?|version)="[^"]*"', "", opening)
    return f'{kept} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{name}">{rest}'
