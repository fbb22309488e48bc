"""``kw report``: a run as one self-contained page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.breeding.run import PROGRAMS, BreedRun
from kernelwright.breeding.simplified import simplified_best
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import kind_of
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.breeding import write_bred_page
from kernelwright.report.evolution import write_page
from kernelwright.report.tuning import write_tuning_page
from kernelwright.versions.tune_run import TRIED_THRESHOLDS, TuneRun


def command(
    run: Annotated[str, typer.Argument(help="A run's folder, or its name below kw-runs.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; default report.html in the run's folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: where the page is.")] = False,
) -> None:
    """One HTML page: what was found, what it depends on, and how. kw explain first puts the reasons into it. Of kw tune: the
    forest, the thresholds that are best for each dataset, and who won where. Of kw breed: the best programs, and how they were come to."""
    page = _PAGES[kind_of(run, _PAGES)](run, output)
    print(json.dumps({"page": str(page)}) if as_json else page)


def _evolved(run: str, output: Path | None) -> Path:
    with EvolveRun.open(run, GENOMES) as found:
        return write_page(found, output or found.folder / "report.html")


def _tuned(run: str, output: Path | None) -> Path:
    with TuneRun.open(run, TRIED_THRESHOLDS) as found:
        return write_tuning_page(found, output or found.folder / "report.html")


def _bred(run: str, output: Path | None) -> Path:
    with BreedRun.open(run, PROGRAMS) as found:
        return write_bred_page(found, output or found.folder / "report.html", simplified_best(found))


def _explored(run: str, output: Path | None) -> Path:
    raise Misuse(f"{run} is a run of kw explore, which has no page", hint=f"kw show {run}; kw space tree {run}")


_PAGES: Mapping[str, Callable[[str, Path | None], Path]] = {
    "evolve": _evolved,
    "tune": _tuned,
    "breed": _bred,
    "explore": _explored,
}
"""By what made the run."""
