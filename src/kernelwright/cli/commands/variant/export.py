"""``kw export``: a variant, or the winners of a threshold file, as a folder to take along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.errors import Misuse
from kernelwright.stories.candidate_words import valid_for
from kernelwright.stories.export import export
from kernelwright.stories.export_tuned import export_tuned
from kernelwright.stories.winners import TUNING


def command(
    run: RunAndVariant,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder; default RUN-VARIANT.")] = None,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Also what has no proof or failed it; its files then say so.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """The kernel as IR, PTX, cubin and patch, its edits, its evidence, and how to load it; of a threshold file of kw tune --with
    (app.tuning), all its winners and what picks among them."""
    if output is not None and output.exists() and not output.is_dir():
        raise Misuse(f"{output} is a file, and a folder is wanted", hint="name another with -o")
    if run.endswith(TUNING) and Path(run).is_file():
        folder, name, valid = export_tuned(Path(run), output, unproven=unproven), None, None
    else:
        found, variant = opened(run)
        with found:
            folder = export(found, variant, output, unproven=unproven)
            name, valid = found.variant(variant).name, valid_for(found, found.variant(variant))
    if as_json:
        print(json.dumps({"folder": str(folder), "variant": name, "valid_for": valid}))
    else:
        print("\n".join(filter(None, [f"{folder}: README.md says what is in it", valid])))
