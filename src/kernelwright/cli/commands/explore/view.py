"""What is seen of a run while it explores."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TextIO

from kernelwright.cli.support.live_view import View, view_on
from kernelwright.exploration.standing import ExploreStanding


def explore_view_of(stream: TextIO) -> ExploreView:
    """The view that suits the stream."""
    return ExploreView(view_on(stream))


def facts(standing: ExploreStanding) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    settings, best = standing.run.settings, standing.best
    budget = f" of {settings.evaluations}" if settings.evaluations is not None else ""
    gain = f", {standing.naive_us / best.time_us:.2f}x the naive kernel's speed" if best and standing.naive_us else ""
    gap = f", the best is at most {100 * standing.gap:.0f} % slower" if math.isfinite(standing.gap) else ""
    rows = [
        ("kernels", f"{standing.evaluations}{budget}"),
        ("best", f"{best.time_us:.2f} us{gain}" if best else "none yet"),
        ("bound", f"{standing.root_us:.2f} us at the root; proven: nothing is below {standing.proven_us:.2f} us{gap}"),
        ("dead ends", f"{standing.dead_ends} in {standing.descents} descents; {standing.nodes} nodes made"),
        ("rejected", ", ".join(f"{stage} {count}" for stage, count in standing.rejected.most_common()) or "none"),
        ("rate", f"{standing.rate:.2f} kernels/s, {standing.jobs} workers"),
    ]
    if settings.evaluations is not None and standing.fresh:
        seconds = int((settings.evaluations - standing.evaluations) / max(standing.rate, 1e-9))
        rows.append(("time left", f"at most {seconds // 60}:{seconds % 60:02d}"))
    return rows


class ExploreView:
    """Shows where a run stands. Used as a context manager."""

    def __init__(self, view: View) -> None:
        self._view = view

    def show(self, standing: ExploreStanding) -> None:
        if standing.phase == "space":
            self._view.show(standing.phase, [("space", f"of {standing.run.subject}: rules applied to its objects")])
            return
        self._view.show(standing.phase, facts(standing))

    def __enter__(self) -> ExploreView:
        self._view.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._view.__exit__(kind, error, traceback)
