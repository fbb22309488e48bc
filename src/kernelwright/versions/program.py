"""What the tuner asks of a program, and what one run of it says.

A guard compares a number of the run, its *value* P, with a named threshold T, and takes its version when ``P >= T``. A
threshold of ``INFINITE`` is never reached, so that everything further down the tree runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from kernelwright.evaluate.outcome import Rejected
from kernelwright.lazy_dataclasses import dataclass

INFINITE = 2**63 - 1
"""A threshold above every value: the guard is never taken."""


def times_as_much(time_us: float, other_us: float) -> float:
    """``time_us`` over ``other_us``, which may be 0 where a program's clock is coarse: 1 where both are, else infinite."""
    if other_us == 0:
        return 1.0 if time_us == 0 else math.inf
    return time_us / other_us


Thresholds = Mapping[str, int]
"""Threshold of each guard by name. A guard that is not named has the program's own default."""


@dataclass(frozen=True)
class Compared:
    """One comparison ``value >= threshold`` of a run, in the order of the run."""

    name: str
    value: int
    taken: bool | None
    """Whether the version was run; None when neither the program said so nor the threshold was known."""
    legal: bool = True
    """False where the program said that no threshold lets the version run here."""

    def as_json(self) -> list[Any]:
        """``[name, value, taken]``, and ``false`` behind it where the version is not legal; ``from_json`` reads it."""
        return [self.name, self.value, self.taken, *([] if self.legal else [False])]

    @staticmethod
    def from_json(row: Any) -> Compared:
        """Raises ``ValueError`` for what ``as_json`` did not write."""
        types = [type(part) for part in row] if isinstance(row, list) else []
        if types[:2] != [str, int] or types[2:] not in ([bool], [type(None)], [bool, bool], [type(None), bool]):
            raise ValueError("no comparison")
        return Compared(row[0], row[1], row[2], legal=len(row) < 4)


@dataclass(frozen=True)
class Ran:
    """One run: what was compared, and its time in microseconds or why it has none."""

    compared: tuple[Compared, ...]
    time_us: float | None
    failure: Rejected | None = None

    def __post_init__(self) -> None:
        if (self.time_us is None) == (self.failure is None):
            raise ValueError("a run has a time or a failure, and not both")


class TunedProgram(Protocol):
    """A program of several versions."""

    @property
    def deterministic(self) -> bool:
        """Whether a run with the same thresholds always takes the same time."""

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        """Runs the program once. What goes wrong in it is part of the answer, never an exception."""
