"""Which child to visit next, as formulas.

TAG: Streeter and Smith, A Simple Distribution-Free Approach to the Max k-Armed Bandit Problem, 2006, on trees as in paper
004, section 5.1. UCT: Kocsis and Szepesvári, Bandit Based Monte-Carlo Planning, 2006.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

UNBOUNDED = 1e-6
"""Added to bounds, us, so that a bound of 0 has a finite weight where nothing is known to be cut by."""


def tag_scores(
    visits: Sequence[int], times: Sequence[Sequence[float]], kept: int = 10, delta: float = 1.0
) -> list[float]:
    """Threshold ascent: an upper confidence limit of how often a child gives one of the ``kept`` best times of all children.

    ``visits``: of each child, at least 1; ``times``: the best times seen below each. With s successes of n visits among k
    children and N visits in all, a = ln(2 N k / delta): (s + a + sqrt(2 s a + a^2)) / n.
    """
    best = heapq.nsmallest(kept, (each for some in times for each in some))
    threshold = best[-1] if best else math.inf
    weight = max(0.0, math.log(2 * sum(visits) * len(visits) / delta))
    scores = []
    for n, some in zip(visits, times, strict=True):
        successes = sum(each <= threshold for each in some)
        scores.append((successes + weight + math.sqrt(2 * successes * weight + weight * weight)) / n)
    return scores


def uct_scores(
    visits: Sequence[int], times: Sequence[Sequence[float]], best: float, exploration: float = math.sqrt(2)
) -> list[float]:
    """The reward of a child plus ``exploration`` * sqrt(ln N / n). The reward is the best time of all over the best time below the
    child, so between 0 and 1 whatever the unit: with plain speeds the exploration term has no common scale."""
    total = math.log(max(1, sum(visits)))
    return [
        (best / min(some) if some and min(some) > 0 else float(bool(some))) + exploration * math.sqrt(total / n)
        for n, some in zip(visits, times, strict=True)
    ]


def bound_weights(bounds: Sequence[float], cut: float) -> list[float]:
    """How likely each child is in a descent: max(cut - bound, 0) (paper 004, section 5.1); without a cut, 1 / bound."""
    if math.isfinite(cut):
        return [max(cut - bound, 0.0) for bound in bounds]
    return [1 / (bound + UNBOUNDED) for bound in bounds]


def near_bound_weights(bounds: Sequence[float], width: float) -> list[float]:
    """How likely each child is where the least bounds are wanted: e^-x, with x how far its bound is above the least of them in widths of
    that. Unlike ``bound_weights`` it does not depend on a cut, which at first is far above all that is worth a look."""
    least = min(bounds) + UNBOUNDED
    return [math.exp((least - UNBOUNDED - bound) / (width * least)) for bound in bounds]
