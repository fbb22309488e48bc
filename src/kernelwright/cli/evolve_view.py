"""What is seen of a run while it searches: a live table in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol, TextIO

from kernelwright.evaluate.run import Run
from kernelwright.stories.evolve import Standing

EVERY_S = 5.0
"""Between two lines where there is no terminal."""


class View(Protocol):
    """Shows where a run stands. Used as a context manager."""

    def show(self, standing: Standing) -> None: ...
    def __enter__(self) -> View: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def view_of(run: Run, stream: TextIO) -> View:
    """The view that suits the stream."""
    return Live(run, stream) if stream.isatty() else Lines(run, stream)


def facts(run: Run, standing: Standing) -> list[tuple[str, str]]:
    """What there is to say, each with its name."""
    settings = run.settings
    told = max(standing.evaluations, 1)
    best = standing.best
    phase = standing.phase + (f", generation {standing.generation}" if standing.generation else "")
    known = f"{best.speedup:.3f}x {settings.accept} ({best.name}, {len(best.candidate)} edits)" if best else "none yet"
    rows = [
        ("phase", phase),
        ("best", f"{known}; {standing.speedup_any:.3f}x right in training"),
        ("candidates", f"{standing.evaluations}" + (f" of {settings.evaluations}" if settings.evaluations else "")),
        ("accepted", f"{100 * standing.accepted / told:.0f} %; seen before {100 * standing.seen / told:.0f} %"),
        ("rejected", ", ".join(f"{stage} {count}" for stage, count in standing.rejected.most_common()) or "none"),
        ("rate", f"{standing.rate:.1f} variants/s on {standing.jobs} workers"),
    ]
    left = time_left(run, standing)
    return [*rows, ("time left", left)] if left else rows


def time_left(run: Run, standing: Standing) -> str:
    """An estimate from the budget and the rate so far; empty when nothing bounds the run by either."""
    settings = run.settings
    guesses = []
    if settings.evaluations and standing.fresh:
        guesses.append((settings.evaluations - standing.evaluations) / max(standing.rate, 1e-9))
    if settings.seconds:
        guesses.append(settings.seconds - (time.monotonic() - standing.began))
    if not guesses:
        return ""
    seconds = max(0, int(min(guesses)))
    return f"{seconds // 60}:{seconds % 60:02d}"


class Lines:
    """Plain lines, for files and pipes."""

    def __init__(self, run: Run, stream: TextIO) -> None:
        self._run = run
        self._stream = stream
        self._next = 0.0
        self._noted = 0
        self._phase = ""

    def show(self, standing: Standing) -> None:
        for note in standing.notes[self._noted :]:
            print(f"kw: note: {note}", file=self._stream, flush=True)
        self._noted = len(standing.notes)
        now = time.monotonic()
        if standing.phase != self._phase or now >= self._next:
            self._phase, self._next = standing.phase, now + EVERY_S
            said = "; ".join(f"{name} {what}" for name, what in facts(self._run, standing))
            print(f"kw: {said}", file=self._stream, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Live:
    """A table that is drawn again, for terminals."""

    def __init__(self, run: Run, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._run = run
        self._console = Console(file=stream)
        self._live = RichLive(console=self._console, refresh_per_second=4, transient=True)
        self._noted = 0

    def show(self, standing: Standing) -> None:
        from rich.table import Table

        for note in standing.notes[self._noted :]:
            self._console.print(f"note: {note}", markup=False)
        self._noted = len(standing.notes)
        table = Table.grid(padding=(0, 2))
        for name, what in facts(self._run, standing):
            table.add_row(name, what)
        for found in [f for f in standing.front if f.candidate][:5]:
            table.add_row(
                "", f"{found.name}  {found.speedup:.3f}x  error {found.outcome.error:g}  {len(found.candidate)} edits"
            )
        self._live.update(table)

    def __enter__(self) -> Live:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, traceback)
