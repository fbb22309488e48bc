"""``kw export``: a variant as a folder to take along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.errors import Misuse
from kernelwright.stories.export import export


def command(
    run: RunAndVariant,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder; default RUN-VARIANT.")] = None,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Also what has no proof or failed it; its files then say so.")
    ] = False,
) -> None:
    """The kernel as IR, PTX, cubin and patch, its edits, its evidence, and how to load it."""
    if output is not None and output.exists() and not output.is_dir():
        raise Misuse(f"{output} is a file, and a folder is wanted", hint="name another with -o")
    found, variant = opened(run)
    with found:
        folder = export(found, variant, output, unproven=unproven)
    print(f"{folder}: README.md says what is in it")
