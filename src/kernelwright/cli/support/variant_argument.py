"""RUN[:VARIANT], as the commands about one variant take it, and their lines."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.errors import Misuse
from kernelwright.evaluate.run.run import found_folder
from kernelwright.evolution.genomes import GENOMES, EvolveRun

RunAndVariant = Annotated[
    str, typer.Argument(metavar="RUN[:VARIANT]", help="A run's folder or name; its best variant, or one by name (v17).")
]


def opened(text: str, *, write: bool = False) -> tuple[EvolveRun, str]:
    """The run, to be closed by the caller, and the name of the variant. Raises ``Misuse``."""
    path, colon, variant = text.rpartition(":")
    try:
        folder = found_folder(path if colon else text)
    except Misuse:
        # A folder whose own name has a colon in it.
        folder, variant, colon = found_folder(text), "", ""
    return EvolveRun.open(folder, GENOMES, write=write), variant if colon and variant else "best"
