"""``kw report``: a run as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.report.evolution import write_page


def command(
    run: Annotated[str, typer.Argument(help="A run's folder, or its name below kw-runs.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; default report.html in the run's folder.")
    ] = None,
) -> None:
    """One HTML page: what was found, what it depends on, and how. kw explain first puts the reasons into it."""
    with EvolveRun.open(run, GENOMES) as found:
        print(write_page(found, output or found.folder / "report.html"))
