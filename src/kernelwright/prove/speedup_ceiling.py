"""Is a speed-up one that the same work can have?

A kernel has to move its data and to compute. If all its memory traffic cost nothing, the arithmetic would still take its
time, and the other way round. A variant that is faster than both does not do the same work: that may be right, for this data.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.timing_model.estimate import Estimate

LIMIT = 10.0
"""A speed-up beyond this is looked into whatever the model says."""
MEMORY = frozenset({"l1", "shared", "constant", "l2", "memory", "atomics"})
WAITING = frozenset({"latency", "barriers"})


def ceiling(estimates: Sequence[Estimate], weights: Sequence[float] | None = None) -> float:
    """The largest speed-up over launches with these estimates that still moves all the data or still computes everything.

    Of the kernels' own time, without what launching costs, as speed-ups are told. ``weights``: how often each launch counts;
    once, if nothing is said. At most ``LIMIT``, which is also the answer where there is no estimate.
    """
    counted = list(zip(estimates, weights or [1.0] * len(estimates), strict=True))
    before = sum(weight * one.kernel_us for one, weight in counted)
    after = sum(weight * _least_us(one) for one, weight in counted)
    return min(LIMIT, before / after) if after > 0 else LIMIT


def _least_us(one: Estimate) -> float:
    """The kernel with its memory traffic or its arithmetic for nothing, whichever leaves less; and nothing waits."""
    moving = max((t.cycles for t in one.terms if t.name in MEMORY), default=0.0)
    computing = max((t.cycles for t in one.terms if t.name not in MEMORY | WAITING), default=0.0)
    return min(moving, computing) * one.kernel_us / one.cycles if one.cycles else 0.0
