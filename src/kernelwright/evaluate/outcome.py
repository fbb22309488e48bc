"""An outcome: how a candidate did. Failure is a value with a cause, never an exception out of a search."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ok:
    """The candidate computed what it should, within tolerance."""

    cost: float
    """What is minimised; lower is better. Its unit is the evaluator's."""
    error: float
    """Largest deviation from the expected output, as the workload measures it; 0 is exact."""
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejected:
    """The candidate was turned down at ``stage`` (verify, run, compare) for ``reason``."""

    stage: str
    reason: str
    where: str = ""


Outcome = Ok | Rejected
