"""Of which state of the package a kept result is."""

from __future__ import annotations

from pathlib import Path

from kernelwright.cache import content_key

_COUNTS = (".py", ".c", ".h", ".cuh", ".cu", ".cpp", ".inc", "")
"""Files that decide what comes of a program; headers of C++ have no suffix."""


def package_state() -> str:
    """Of our sources, in eight digits."""
    package = Path(__file__).parents[1]
    files = sorted(p for p in package.rglob("*") if p.suffix in _COUNTS and p.is_file() and "bench" not in p.parts)
    return content_key([part for p in files for part in (p.relative_to(package).as_posix(), p.read_bytes())])[:8]
