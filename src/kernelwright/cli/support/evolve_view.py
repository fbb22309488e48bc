"""What is seen of a run while it searches: a live table in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TextIO

from kernelwright.cli.support.live_view import View, view_on
from kernelwright.device.describe_access import plural
from kernelwright.evolution.genomes import EvolveRun
from kernelwright.stories.variant_search.standing import Standing


def view_of(run: EvolveRun, stream: TextIO) -> EvolveView:
    """The view that suits the stream."""
    return EvolveView(run, view_on(stream))


def facts(run: EvolveRun, standing: Standing) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    settings = run.settings
    told = max(standing.evaluations, 1)
    best = standing.best
    phase = standing.phase + (f", generation {standing.generation}" if standing.generation else "")
    known = (
        f"{best.speedup:.3f}x {_label(run, standing)} ({best.name}, {plural(len(best.candidate), 'edit')})"
        if best
        else "none"
        if standing.is_over
        else "none yet"
    )
    limit = f" of {settings.evaluations}" if settings.evaluations else ""
    # What minimising and proving ask about comes on top of what the search may.
    asked = f"{standing.evaluations}" + (limit if standing.evaluations <= (settings.evaluations or 0) else "")
    rows = [
        ("phase", phase),
        ("best", f"{known}; {standing.speedup_any:.3f}x right in training"),
        ("candidates", asked),
        ("accepted", f"{100 * standing.accepted / told:.0f} %; seen before {100 * standing.seen / told:.0f} %"),
        ("rejected", ", ".join(f"{stage} {count}" for stage, count in standing.rejected.most_common()) or "none"),
        ("rate", f"{standing.rate:.1f} variants/s on {plural(standing.jobs, 'worker')}"),
    ]
    left = time_left(run, standing)
    return [*rows, ("time left", left)] if left else rows


def _label(run: EvolveRun, standing: Standing) -> str:
    """What is known of the best: its label once it is proven, till then what it was accepted as."""
    assert standing.best is not None
    proof = run.proof(standing.best.name) if standing.is_over else None
    return str(proof["label"]) if proof else f"unproven, accepted as {run.settings.accept}"


def time_left(run: EvolveRun, standing: Standing) -> str:
    """An estimate from the budget and the rate so far; empty when nothing bounds the run by either, and for what follows
    the search."""
    settings = run.settings
    guesses: list[float] = []
    if standing.is_over:
        return ""
    if settings.evaluations and standing.fresh:
        guesses.append((settings.evaluations - standing.evaluations) / max(standing.rate, 1e-9))
    if settings.seconds:
        guesses.append(settings.seconds - (time.monotonic() - standing.began))
    if not guesses:
        return ""
    seconds = max(0, int(min(guesses)))
    return f"{seconds // 60}:{seconds % 60:02d}"


class EvolveView:
    """Shows where a run stands. Used as a context manager."""

    def __init__(self, run: EvolveRun, view: View) -> None:
        self._run = run
        self._view = view

    def show(self, standing: Standing) -> None:
        front = [found for found in standing.front if found.candidate][:5]
        more = [
            ("", f"{f.name}  {f.speedup:.3f}x  error {f.outcome.error:g}  {plural(len(f.candidate), 'edit')}")
            for f in front
        ]
        self._view.show(standing.phase, facts(self._run, standing), standing.notes, more)

    def __enter__(self) -> EvolveView:
        self._view.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._view.__exit__(kind, error, traceback)
