"""``kw report``: a run as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cache import write_atomically
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.run import Run
from kernelwright.report.evolution import evolution_page


def command(
    run: Annotated[str, typer.Argument(help="A run's folder, or its name below kw-runs.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; default report.html in the run's folder.")
    ] = None,
) -> None:
    """One HTML page: what was found, what it rests on, and how. kw explain first puts the reasons into it."""
    with Run.open(run) as found:
        if not len(found.journal):
            raise Misuse(f"{found.name} has no evaluation yet", hint=f"kw evolve --resume {found.folder}")
        page = evolution_page(found)
        target = output or found.folder / "report.html"
    try:
        write_atomically(target, page.encode())
    except OSError as error:
        raise ToolError(f"{target} cannot be written: {error.strerror}", hint="name another file with -o") from error
    print(target)
