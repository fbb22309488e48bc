"""Programs of several versions, for ``kw tune``: each with guards ``KW_THRESHOLD`` and two datasets (paper 003, Table 1).

So far the paper's running examples, ``mapscan1`` (size-invariant) and ``mapscan2`` (size-variant).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class MultiVersionProgram:
    """A program whose host code picks among versions by thresholds."""

    name: str
    source: Path
    datasets: tuple[str, ...]
    """Its arguments, which differ in which version is the fastest."""
    line: str


PROGRAMS: dict[str, MultiVersionProgram] = {
    program.name: program
    for program in (
        MultiVersionProgram(
            "mapscan1",
            FOLDER / "mapscan.cu",
            ("4096 4 1 4", "32 512 1 4", "2 8192 1 4"),
            "prefix sums of rows, again and again; the parallelism is that of the matrix",
        ),
        MultiVersionProgram(
            "mapscan2",
            FOLDER / "mapscan.cu",
            ("4096 4 6 2", "256 64 6 2"),
            "the same for a matrix whose rows halve in number and double in length",
        ),
    )
}
