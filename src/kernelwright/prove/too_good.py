"""Is a speed-up one that the same work can have?

A kernel has to move its data and to compute. If all its memory traffic cost nothing, the arithmetic would still take its
time, and the other way round. Whoever is faster than both does not do the same work: that may be right, for this data.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.model.estimate import Estimate
from kernelwright.target import gpu

LIMIT = 10.0
"""A speed-up beyond this is looked into whatever the model says."""
MEMORY = frozenset({"l1", "shared", "l2", "memory", "atomics"})
WAITING = frozenset({"latency", "barriers"})


def ceiling(estimates: Sequence[Estimate]) -> float:
    """The largest speed-up over launches with these estimates that still moves all the data or still computes everything.

    At most ``LIMIT``, which is also the answer where there is no estimate.
    """
    before = sum(one.time_us for one in estimates)
    after = sum(_least_us(one) for one in estimates)
    return min(LIMIT, before / after) if after > 0 else LIMIT


def _least_us(one: Estimate) -> float:
    """The launch with its memory traffic or its arithmetic for nothing, whichever leaves less; and nothing waits."""
    clock = gpu(one.gpu).clock_mhz
    launch_us = max(one.time_us - one.cycles / clock, 0.0)
    moving = max((t.cycles for t in one.terms if t.name in MEMORY), default=0.0)
    computing = max((t.cycles for t in one.terms if t.name not in MEMORY | WAITING), default=0.0)
    return launch_us + min(moving, computing) / clock
