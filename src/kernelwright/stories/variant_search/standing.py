"""Where a search for variants stands, for its watchers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from kernelwright.evaluate.run.variant_run import Found, VariantRun
from kernelwright.lazy_dataclasses import dataclass

Watch = Callable[["Standing"], None]


@dataclass
class Standing:
    """Where a run stands, for its watchers: changed in place with every answer."""

    run: VariantRun[Any]
    phase: str = "start"
    generation: int = 0
    evaluations: int = 0
    accepted: int = 0
    seen: int = 0
    """Candidates that came to a program evaluated before."""
    fresh: int = 0
    """Evaluated in this session, since ``began``."""
    rejected: Counter[str] = field(default_factory=Counter)
    original_us: float = 0.0
    best: Found[Any] | None = None
    """The fastest accepted one."""
    speedup_any: float = 1.0
    """Of the fastest that is right on the training cases, accepted or not."""
    front: Sequence[Found[Any]] = ()
    notes: Sequence[str] = ()
    jobs: int = 1
    began: float = field(default_factory=time.monotonic)
    searched: float = 0.0
    """When the search had its last answer."""
    is_over: bool = False
    """Whether it has come to its end; what follows is about what it found."""

    @property
    def rate(self) -> float:
        """Variants per second, this session."""
        return self.fresh / max(self.searched - self.began, 1e-9)


def ended(run: VariantRun[Any]) -> Standing:
    """Where a run stands that has come to its end."""
    standing = Standing(
        run, "finished", evaluations=run.evaluations, accepted=len(run.accepted), rejected=Counter(run.rejected),
        original_us=run.original_us or 0.0, best=run.best, speedup_any=run.fastest_trained[1], front=run.front,
        notes=run.notes, is_over=True,
    )  # fmt: skip
    standing.searched = standing.began
    return standing
