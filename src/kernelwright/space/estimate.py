"""How many implementations a space has, estimated by random walks (paper 004, section 5.3), and how many walks end nowhere.

Knuth (1975): the product of the numbers of children on a walk is, on average, the number of leaves. Chen (1992): nodes of one stratum
(here: as deep, with as many open choices) are represented by one of them that carries the weight of all.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable

import numpy as np

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Integers, Masks
from kernelwright.space.engine.solver import Solver

Z_95 = 1.96
WATCHED_WALKS = 500
Watch = Callable[[int], None]
"""Told how many walks or repetitions are done."""


@dataclass(frozen=True)
class Estimate:
    """A mean with the half width of its 95 % confidence interval."""

    mean: float
    half_width: float
    samples: int

    def __str__(self) -> str:
        return f"{self.mean:.2g} ± {self.half_width:.1g}"


@dataclass(frozen=True)
class WalkEstimates:
    """``leaves``, the size of the space; ``dead_ends``, the share of walks that end where no choice has a value left."""

    leaves: Estimate
    dead_ends: Estimate
    median_depth: int


def knuth(solver: Solver, start: Masks, order: Integers, walks: int, watch: Watch = lambda done: None) -> WalkEstimates:
    """From ``walks`` random walks below ``start`` that take the choices in the given order."""
    parts = []
    for first in range(0, walks, WATCHED_WALKS):
        parts.append(solver.walks(start, order, min(WATCHED_WALKS, walks - first)))
        watch(min(first + WATCHED_WALKS, walks))
    depths, log_sizes = (np.concatenate(each) for each in zip(*parts, strict=True))
    alive = depths >= 0
    sizes = np.where(alive, 10.0**log_sizes, 0.0)
    return WalkEstimates(
        _estimate(sizes), _estimate((~alive).astype(float)), int(np.median(depths[alive])) if alive.any() else 0
    )


def chen(
    solver: Solver,
    start: Masks,
    order: Integers,
    repetitions: int,
    seed: int = 0,
    watch: Watch = lambda done: None,
) -> Estimate:
    """The number of leaves, from heuristic sampling with strata (depth, open choices)."""
    draw, found = random.Random(seed), []
    for number in range(repetitions):
        found.append(_one_chen(solver, start, order, draw))
        watch(number + 1)
    return _estimate(np.array(found))


def _one_chen(solver: Solver, start: Masks, order: Integers, draw: random.Random) -> float:
    leaves = 0.0
    strata: dict[tuple[int, int], tuple[Masks, float]] = {(0, 0): (start, 1.0)}
    waiting = [(0, 0)]
    while waiting:
        stratum = heapq.heappop(waiting)
        state, weight = strata.pop(stratum)
        variable = solver.next_open(state, order)
        if variable is None:
            leaves += weight
            continue
        for child in solver.expand(state, variable)[0]:
            # More open choices first: what a node leads to is always behind it.
            below = (stratum[0] + 1, -_open_choices(solver, child, order))
            if below not in strata:
                heapq.heappush(waiting, below)
                strata[below] = (child, weight)
                continue
            other, carried = strata[below]
            together = carried + weight
            strata[below] = (child if draw.random() < weight / together else other, together)
    return leaves


def _open_choices(solver: Solver, state: Masks, order: Integers) -> int:
    c = solver.constraints
    present = sum(1 << g for g, (v, yes) in enumerate(c.exists) if state[v] == yes)
    domains = state[order]
    absent = np.uint32(~present & 0xFFFFFFFF)
    return int((((domains & (domains - np.uint16(1))) != 0) & ((c.presence[order] & absent) == 0)).sum())


def _estimate(samples: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Estimate:
    count = len(samples)
    spread = float(samples.std(ddof=1)) if count > 1 else math.nan
    return Estimate(float(samples.mean()), Z_95 * spread / math.sqrt(count), count)
