"""Programs of several versions, for ``kw tune``: those of paper 003, each with guards ``KW_THRESHOLD`` and two datasets or more.

Its running examples ``mapscan1`` (size-invariant) and ``mapscan2`` (size-variant) are written out. Those of its Table 1 are nested
computations (``programs/``), of which ``flattening.py`` makes the versions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.multiversion.nests import NestedProgram
from kernelwright.suite.multiversion.source import source_of

TABLE_1: tuple[str, ...] = (
    "lud",
    "backprop",
    "lavamd",
    "nw",
    "nn",
    "srad",
    "pathfinder",
    "option_pricing",
    "locvolcalib",
    "heston",
    "bfast",
)
"""The programs of Table 1 of the paper."""
COMPARE = "relative 1e-3 floor 1e-4"
"""The rule for their outputs: versions add in different orders."""


@dataclass(frozen=True)
class MultiVersionProgram:
    """A program whose host code picks among versions by thresholds."""

    name: str
    text: Callable[[], str]
    """Its source."""
    datasets: tuple[str, ...]
    """Its arguments, which differ in which version is the fastest."""
    line: str
    scale: str = ""
    """How large its datasets are beside the paper's."""
    large: tuple[str, ...] = ()
    """Datasets of about the paper's size, for programs that the virtual GPU runs on them in seconds."""


def _mapscan() -> str:
    return (Path(__file__).parent / "mapscan.cu").read_text()


def nested(name: str) -> NestedProgram:
    """A program of Table 1 as a nested computation."""
    found = importlib.import_module(f"kernelwright.suite.multiversion.programs.{name}").PROGRAM
    assert isinstance(found, NestedProgram)
    return found


def _flattened(name: str) -> MultiVersionProgram:
    program = nested(name)
    return MultiVersionProgram(
        name, lambda: source_of(program), program.datasets, program.line, program.scale, program.large
    )


PROGRAMS: dict[str, MultiVersionProgram] = {
    program.name: program
    for program in (
        MultiVersionProgram(
            "mapscan1",
            _mapscan,
            ("4096 4 1 4", "32 512 1 4", "2 8192 1 4"),
            "prefix sums of rows, again and again; the parallelism is that of the matrix",
        ),
        MultiVersionProgram(
            "mapscan2",
            _mapscan,
            ("4096 4 6 2", "256 64 6 2"),
            "the same for a matrix whose rows halve in number and double in length",
        ),
        *(_flattened(name) for name in TABLE_1),
    )
}
