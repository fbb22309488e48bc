"""RUN[:VARIANT], as the commands about one variant take it, and their lines."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.stories.winners import opened

__all__ = ["RunAndVariant", "opened"]

RunAndVariant = Annotated[
    str, typer.Argument(metavar="RUN[:VARIANT]", help="A run's folder or name; its best variant, or one by name (v17).")
]
