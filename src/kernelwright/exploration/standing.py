"""Where a run of exploring stands: for its watchers."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import field

from kernelwright.exploration.run import ExploredKernel, ExploreRun
from kernelwright.lazy_dataclasses import dataclass


@dataclass
class ExploreStanding:
    """Changed in place."""

    run: ExploreRun
    phase: str = "start"
    evaluations: int = 0
    fresh: int = 0
    """Kernels judged in this session."""
    rejected: Counter[str] = field(default_factory=Counter)
    best: ExploredKernel | None = None
    naive_us: float = 0.0
    root_us: float = 0.0
    """The bound at the root: nothing in the space is faster, before anything was tried."""
    proven_us: float = 0.0
    """The same now: the least bound of what is neither timed nor cut."""
    dead_ends: int = 0
    descents: int = 0
    nodes: int = 0
    open_nodes: int = 0
    above_bound: int = 0
    """Kernels that were estimated faster than the bound of their leaf: each one is a defect of the bound."""
    jobs: int = 1
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Of this session."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float:
        """Kernels per second, this session."""
        return self.fresh / max(self.seconds, 1e-9)

    @property
    def gap(self) -> float:
        """By what share the best is at most slower than the fastest of the space; inf while nothing is known."""
        return self.best.time_us / self.proven_us - 1 if self.best and 0 < self.proven_us < math.inf else math.inf
