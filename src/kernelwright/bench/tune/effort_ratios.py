"""How much more a black box does than our tuner: runs, time of the program, and time of tuning, over programs.

Of the seeds the least counts, until the search stops; the paper takes the best tuning time of three passes, too (section 4). A
search that was cut would have done more.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import field

from kernelwright.bench.tune.black_box import Effort, Searched
from kernelwright.lazy_dataclasses import dataclass

_MEASURES: dict[str, Callable[[Effort], float]] = {
    "runs": lambda effort: effort.runs,
    "program time": lambda effort: effort.program_us,
    "tuning time": lambda effort: effort.seconds,
}


@dataclass
class EffortRatios:
    """A black box over ours, a row for each program."""

    at_end: list[dict[str, float]] = field(default_factory=list)
    """The least of the seeds."""
    at_end_most: list[dict[str, float]] = field(default_factory=list)
    """The most of the seeds."""
    at_equal: list[dict[str, float]] = field(default_factory=list)
    """The mean of those seeds that became as good as ours; programs where none did are left out."""
    beside_slowest: list[float] = field(default_factory=list)
    """Of the tuning times until the search stops the least of the seeds, over that of our slowest pass."""
    searches: int = 0
    cut: int = 0
    equal: int = 0

    def add(self, ours: Effort, searches: Sequence[Searched], slowest_s: float) -> None:
        """``ours``: of the quickest pass; ``slowest_s``: the tuning time of the slowest."""

        def over(efforts: Sequence[Effort], choose: Callable[[list[float]], float]) -> dict[str, float]:
            return {name: choose([of(e) for e in efforts]) / of(ours) for name, of in _MEASURES.items()}

        equal = [s.at_equal for s in searches if s.at_equal is not None]
        self.at_end.append(over([s.at_end for s in searches], min))
        self.at_end_most.append(over([s.at_end for s in searches], max))
        self.beside_slowest.append(min(s.at_end.seconds for s in searches) / slowest_s)
        if equal:
            self.at_equal.append(over(equal, statistics.fmean))
        self.searches += len(searches)
        self.cut += sum(s.cut for s in searches)
        self.equal += len(equal)

    def mean_time(self) -> float | None:
        """OpenTuner's tuning time until it stops over ours, mean of programs; None before the first."""
        return statistics.fmean(row["tuning time"] for row in self.at_end) if self.at_end else None

    def notes(self) -> list[str]:
        """The means over programs in sentences; none where the black box made no search."""
        if not self.searches:
            return []

        def told(rows: Sequence[dict[str, float]]) -> str:
            return ", ".join(f"{statistics.fmean(row[name] for row in rows):.3g} in {name}" for name in _MEASURES)

        lines = [
            f"OpenTuner over ours until it stops, mean of programs, best seed: {told(self.at_end)}; "
            f"{self.cut} of {self.searches} searches were ended before they stopped, and would have done more",
            f"the same of the worst seed: {told(self.at_end_most)}",
            f"the same of the best seed beside the slowest of our passes: {statistics.fmean(self.beside_slowest):.3g} in tuning time",
        ]
        if self.at_equal:
            lines.append(
                f"until it is first as good as ours, mean of programs: {told(self.at_equal)}; "
                f"{self.equal} of {self.searches} searches became so"
            )
        return lines
