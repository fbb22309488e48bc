"""Progress of a search that Python started: one line that changes, in a terminal and in a notebook; nothing in a file or a pipe."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from kernelwright.stories.variant_search.standing import Standing, Watch

EVERY_S = 0.25
"""Between two looks."""


def line_of(standing: Standing) -> str:
    """``evolve, generation 3: 120 of 400 candidates, 31.4 a second, best 1.352x (v57)``"""
    generation = f", generation {standing.generation}" if standing.generation else ""
    budget = standing.run.settings.evaluations
    asked = (
        f"{standing.evaluations} of {budget}"
        if budget and standing.evaluations <= budget
        else f"{standing.evaluations}"
    )
    best = f"best {standing.best.speedup:.3f}x ({standing.best.name})" if standing.best else "nothing faster yet"
    return f"{standing.phase}{generation}: {asked} candidates, {standing.rate:.1f} a second, {best}"


@contextmanager
def shown(watch: Watch | None, stream: TextIO | None = None) -> Iterator[Watch]:
    """The watch to call: the one given; without one, a line of progress. ``stream``: standard error; in a terminal the line is gone at
    the end, in a notebook it stays."""
    stream = stream or sys.stderr
    if watch is not None:
        yield watch
    elif "ipykernel" in sys.modules:
        yield _in_notebook()
    elif not stream.isatty():
        yield lambda standing: None
    else:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(file=stream), refresh_per_second=1 / EVERY_S, transient=True) as live:
            yield lambda standing: live.update(Text(line_of(standing)))


def _in_notebook() -> Watch:
    """Writes into one output of the cell, a few times a second, and at the end of the search."""
    display = importlib.import_module("IPython.display").display
    handle = display({"text/plain": ""}, raw=True, display_id=True)
    last = 0.0

    def watch(standing: Standing) -> None:
        nonlocal last
        now = time.monotonic()
        if standing.is_over or now - last >= EVERY_S:
            last = now
            handle.update({"text/plain": line_of(standing)}, raw=True)

    return watch
