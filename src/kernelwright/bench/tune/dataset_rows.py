"""A row for each dataset, and what is promised of all: configurations beside the number promised, time tuned and untuned."""

from __future__ import annotations

from kernelwright.bench.result import Measured, Row
from kernelwright.bench.tune.measured_program import MeasuredProgram
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.multiversion.table import MultiVersionProgram
from kernelwright.versions.thresholds import DatasetResult, most_configurations


@dataclass
class Worst:
    """What is promised of all datasets, at its worst."""

    count: float = 0.0
    exact: float = 0.0
    beyond: float = 0.0
    slower: float = 0.0

    def count_in(self, other: Worst) -> None:
        """Takes over what is worse in ``other``."""
        self.count = max(self.count, other.count)
        self.exact = max(self.exact, other.exact)
        self.beyond = max(self.beyond, other.beyond)
        self.slower = max(self.slower, other.slower)


def add_promises(result: Measured, worst: Worst) -> None:
    """Adds to ``result`` what is promised of all datasets together, from the worst of their rows."""
    result.at_most("configurations of a dataset, as a share of those promised", worst.count, 1.0)
    result.at_most(
        "|configurations - 1 - thresholds| of a size-invariant dataset whose versions all run", worst.exact, 0
    )
    result.at_most("a dataset's best above the least of all paths, where they were enumerated", worst.beyond, 0.0)
    result.at_most("a served dataset's tuned time above its untuned one and the least", worst.slower, 0.0)


def dataset_row(
    program: MultiVersionProgram, dataset: DatasetResult, measured: MeasuredProgram | None, worst: Worst
) -> Row:
    """``measured``: to enumerate paths by; None where that is not done."""
    promised = 1 + sum(most_configurations(len(d.values)) for d in dataset.decisions)
    worst.count = max(worst.count, dataset.configurations / promised)
    invariant = all(len(d.values) == 1 for d in dataset.decisions)
    if invariant and not any(d.again or d.verdict == "refused" for d in dataset.decisions):
        worst.exact = max(worst.exact, abs(dataset.configurations - 1 - len(dataset.decisions)))
    enumerated = measured.least_us(dataset.name) if measured is not None else None
    if enumerated is not None:
        worst.beyond = max(worst.beyond, dataset.best_us / enumerated[1] - 1)
    if dataset.served:
        least = enumerated[1] if enumerated else dataset.untuned_us
        worst.slower = max(worst.slower, dataset.tuned_us / dataset.untuned_us - 1)
        worst.slower = max(worst.slower, dataset.tuned_us / least - 1 if enumerated else 0.0)
    return {
        "program": program.name,
        "dataset": dataset.name,
        "thresholds": len(dataset.decisions),
        "configurations": dataset.configurations,
        "promised": promised,
        "paths": enumerated[0] if enumerated else "" if measured is None else "too many",
        "untuned us": round(dataset.untuned_us, 2),
        "tuned us": round(dataset.tuned_us, 2),
        "times as fast": round(dataset.untuned_us / dataset.tuned_us, 2),
        "least us": round(enumerated[1], 2) if enumerated else "",
        "served": dataset.served,
    }
