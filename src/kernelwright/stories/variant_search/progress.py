"""Progress of a search that Python started: one line that changes, in a terminal and in a notebook; nothing in a file or a pipe."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from kernelwright.breeding.standing import Standing as BreedStanding
from kernelwright.exploration.standing import ExploreStanding
from kernelwright.stories.variant_search.standing import Standing

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


def breeding_line(standing: BreedStanding) -> str:
    """``generation 3: 812 programs, 1940 a second, best 0.0755 (v806)``"""
    best = f"best {standing.best.fitness:.4g} ({standing.best.name})" if standing.best else "none has a fitness yet"
    return f"generation {standing.generation}: {standing.evaluations} programs, {standing.rate:.0f} a second, {best}"


def exploring_line(standing: ExploreStanding) -> str:
    """``48 of 200 kernels, 2.1 a second, best 0.37 us (v5), nothing is below 0.18 us``"""
    budget = standing.run.settings.evaluations
    asked = f"{standing.evaluations} of {budget}" if budget else f"{standing.evaluations}"
    best = f"best {standing.best.time_us:.2f} us ({standing.best.name})" if standing.best else "none right yet"
    proven = f", nothing is below {standing.proven_us:.2f} us" if 0 < standing.proven_us < float("inf") else ""
    return f"{asked} kernels, {standing.rate:.1f} a second, {best}{proven}"


@contextmanager
def shown(
    watch: Callable[[Any], None] | None, stream: TextIO | None = None, words: Callable[[Any], str] = line_of
) -> Iterator[Callable[[Any], None]]:
    """The watch to call: the one given; without one, a line of progress (``words``). ``stream``: standard error; in a terminal the line is
    gone at the end, in a notebook it stays."""
    stream = stream or sys.stderr
    if watch is not None:
        yield watch
    elif "ipykernel" in sys.modules:
        yield _in_notebook(words)
    elif not stream.isatty():
        yield lambda standing: None
    else:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(file=stream), refresh_per_second=1 / EVERY_S, transient=True) as live:
            yield lambda standing: live.update(Text(words(standing)))


def _in_notebook(words: Callable[[Any], str]) -> Callable[[Any], None]:
    """Writes into one output of the cell, a few times a second, and at the end of the search."""
    display = importlib.import_module("IPython.display").display
    handle = display({"text/plain": ""}, raw=True, display_id=True)
    last = 0.0

    def watch(standing: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if getattr(standing, "is_over", False) or now - last >= EVERY_S:
            last = now
            handle.update({"text/plain": words(standing)}, raw=True)

    return watch
