"""``kw report``: a run as one self-contained page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.evaluate.run.run import kind_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.evolution import write_page
from kernelwright.report.tuning import write_tuning_page
from kernelwright.versions.tune_run import TRIED_THRESHOLDS, TuneRun


def command(
    run: Annotated[str, typer.Argument(help="A run's folder, or its name below kw-runs.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; default report.html in the run's folder.")
    ] = None,
) -> None:
    """One HTML page: what was found, what it depends on, and how. kw explain first puts the reasons into it. Of kw tune: the
    forest, the thresholds that are best for each dataset, and who won where."""
    _PAGES[kind_of(run, _PAGES)](run, output)


def _evolved(run: str, output: Path | None) -> None:
    with EvolveRun.open(run, GENOMES) as found:
        print(write_page(found, output or found.folder / "report.html"))


def _tuned(run: str, output: Path | None) -> None:
    with TuneRun.open(run, TRIED_THRESHOLDS) as found:
        print(write_tuning_page(found, output or found.folder / "report.html"))


_PAGES: Mapping[str, Callable[[str, Path | None], None]] = {"evolve": _evolved, "tune": _tuned}
"""By what made the run."""
