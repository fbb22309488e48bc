"""What is seen of a run while it breeds."""

from __future__ import annotations

from types import TracebackType
from typing import TextIO

from kernelwright.breeding.standing import Standing
from kernelwright.cli.support.live_view import View, view_on

WIDTH = 100
"""Characters of the best program that are shown."""


def view_of(stream: TextIO) -> BreedView:
    """The view that suits the stream."""
    return BreedView(view_on(stream))


def facts(standing: Standing) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    settings, best = standing.run.settings, standing.best
    known = standing.asked - standing.evaluations
    target = standing.run.target
    rows = [
        ("generation", f"{standing.generation} of {settings.generations}"),
        ("best", f"{best.fitness:g}" if best else "none yet"),
        ("target", f"{target:g}" if target is not None else "none"),
        ("programs", f"{standing.evaluations}{_sources(known, standing)}"),
        ("rejected", ", ".join(f"{stage} {count}" for stage, count in standing.rejected.most_common()) or "none"),
        ("rate", f"{standing.rate:.0f} programs/s, {settings.backend}, {standing.jobs} workers"),
    ]
    if standing.generation and standing.fresh:
        seconds = int(standing.seconds / standing.generation * (settings.generations - standing.generation))
        rows.append(("time left", f"at most {seconds // 60}:{seconds % 60:02d}"))
    return rows


def _sources(known: int, standing: Standing) -> str:
    share = f"; {100 * known / max(standing.asked, 1):.0f} % were known"
    return share + (f", {standing.remembered} more from earlier runs" if standing.remembered else "")


class BreedView:
    """Shows where a run stands. Used as a context manager."""

    def __init__(self, view: View) -> None:
        self._view = view

    def show(self, standing: Standing) -> None:
        best = " ".join(standing.best.text.split()) if standing.best else ""
        more = [("", best if len(best) <= WIDTH else best[: WIDTH - 3] + "...")]
        phase = "finished" if standing.phase == "finished" else "breeding"
        self._view.show(phase, facts(standing), more=more)

    def __enter__(self) -> BreedView:
        self._view.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._view.__exit__(kind, error, traceback)
