"""What thresholds do for a size they were never tuned on: each dataset left out in turn, and met by those of the others.

Nothing is run: the others' configurations are known, and so is what the one left out does on most paths. Where it is not, that is
what is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kernelwright.evaluate.outcome import Rejected
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.box import contains
from kernelwright.versions.program import Ran, Thresholds, times_as_much
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.thresholds import Tuning, tune


@dataclass(frozen=True)
class LeftOut:
    """One dataset, met by thresholds of the others. Times in microseconds."""

    name: str
    best_us: float
    found_us: float | None
    """None where the path that these thresholds lead to was never run; infinite where it fails."""
    relative: float
    """The share of the time below which times are the same."""

    @property
    def is_best(self) -> bool | None:
        """Whether the time found is the best one but for what counts as the same; None where it is unknown."""
        return None if self.found_us is None else self.found_us <= self.best_us * (1 + self.relative)

    def as_json(self) -> dict[str, Any]:
        """Times in microseconds; ``found_us`` null where it is unknown or the path fails."""
        found = self.found_us if self.found_us is not None and math.isfinite(self.found_us) else None
        return {"name": self.name, "best_us": self.best_us, "found_us": found, "is_best": self.is_best}

    def __str__(self) -> str:
        if self.found_us is None:
            return f"{self.name}: the path that thresholds of the others lead to was never run"
        if not math.isfinite(self.found_us):
            return f"{self.name}: fails with thresholds of the others"
        if self.is_best:
            return f"{self.name}: thresholds of the others are best for it"
        return f"{self.name}: thresholds of the others cost {100 * (times_as_much(self.found_us, self.best_us) - 1):.1f} % of its best time"


class _NothingMore:
    """A program of which everything is known that will be."""

    deterministic = True

    def run(self, dataset: str, thresholds: Thresholds) -> Ran:
        return Ran((), None, Rejected("program", "it is not run any more"))


def left_out(tuning: Tuning, relative: float = 0.0) -> list[LeftOut]:
    """Of each dataset that runs, in their order; nothing where there are fewer than three."""
    alive = [dataset for dataset in tuning.datasets if math.isfinite(dataset.best_us)]
    if len(alive) < 3:
        return []
    found = []
    for dataset in alive:
        others = [other.name for other in alive if other is not dataset]
        measured = {name: tuning.measured[name] for name in others}
        rest = tune(_NothingMore(), others, Resolution.exact(relative), declared=tuning.forest, measured=measured)
        here = (
            c.time_us for c in tuning.measured[dataset.name] if any(contains(box, rest.thresholds) for box in c.boxes)
        )
        found.append(LeftOut(dataset.name, dataset.best_us, next(here, None), relative))
    return found


def summary(found: Sequence[LeftOut]) -> str:
    """How often the best version was picked, in a line."""
    known = [each for each in found if each.is_best is not None]
    return f"of {len(known)} datasets left out in turn, thresholds of the others are best for {sum(bool(e.is_best) for e in known)}"
