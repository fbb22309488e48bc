"""``kw init``: a commented kernelwright.toml for this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelwright.cli.support.settings_file import FILE, template
from kernelwright.errors import Misuse, ToolError


def command(
    force: Annotated[
        bool, typer.Option("--force", help="Also where there is one already: it is written over.")
    ] = False,
) -> None:
    """Write kernelwright.toml into this folder: device, headers, budget and the like for the commands that start here, each explained
    and commented out."""
    path = Path(FILE)
    if path.exists() and not force:
        raise Misuse(f"{FILE} is there already", hint="edit it, or kw init --force")
    try:
        path.write_text(template(), encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{FILE} cannot be written: {error.strerror}", hint="check the folder's permissions") from error
    print(f"{FILE}: nothing is set so far; take away the # before what you want")
