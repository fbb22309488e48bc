"""A page as a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from kernelwright.cache import write_atomically
from kernelwright.errors import ToolError


def written(page: str, target: Path) -> Path:
    """Writes a page; returns where. Raises ``ToolError`` for a file that cannot be written."""
    try:
        write_atomically(target, page.encode())
    except OSError as error:
        raise ToolError(f"{target} cannot be written: {error.strerror}", hint="name another file with -o") from error
    return target
