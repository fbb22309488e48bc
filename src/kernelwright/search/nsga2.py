"""NSGA-II: ranks, crowding, tournaments, elitist selection (Deb and others 2002, "A fast and elitist multiobjective genetic
algorithm"; paper 000, section 3.3).

Points are tuples of objectives, all to be made small, all of one length of at least 1. With one objective the ranks are
the order of the distinct values and the whole becomes an elitist genetic algorithm.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from operator import le
from typing import TypeAlias

Point: TypeAlias = tuple[float, ...]


def dominates(a: Point, b: Point) -> bool:
    """``a`` is nowhere worse than ``b``, and somewhere better."""
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def fronts(points: Sequence[Point]) -> list[list[int]]:
    """Indices of the points by front: first what nothing dominates, then what only those dominate, and so on.

    Efficient non-dominated sorting (Zhang and others 2015): taken in lexicographic order, a point can only be dominated
    by earlier ones, and goes to the first front that has none that dominates it; found by bisection, because a point
    that a front lets pass is let pass by all later ones. The same fronts as Deb's fast non-dominated sort.
    """
    places: dict[Point, list[int]] = {}
    for i, point in enumerate(points):
        places.setdefault(point, []).append(i)
    found: list[list[Point]] = []

    def is_dominated_in(front: list[Point], point: Point) -> bool:
        # As ``dominates``, for none of these is equal to it.
        return any(all(map(le, other, point)) for other in reversed(front))

    for point in sorted(places):
        low, high = 0, len(found)
        while low < high:
            middle = (low + high) // 2
            if is_dominated_in(found[middle], point):
                low = middle + 1
            else:
                high = middle
        if low == len(found):
            found.append([])
        found[low].append(point)
    return [sorted(i for point in front for i in places[point]) for front in found]


def crowding(points: Sequence[Point]) -> list[float]:
    """Distance of each point of *one* front to its neighbours, summed over the objectives, each scaled to its range.

    Infinite for the extremes of every objective. An objective that is the same everywhere counts nothing.
    """
    distance = [0.0] * len(points)
    for k in range(len(points[0]) if points else 0):
        order = sorted(range(len(points)), key=lambda i: points[i][k])
        span = points[order[-1]][k] - points[order[0]][k]
        if not span:
            continue
        distance[order[0]] = distance[order[-1]] = math.inf
        for before, i, after in zip(order, order[1:], order[2:], strict=False):
            distance[i] += (points[after][k] - points[before][k]) / span
    return distance


def worth(points: Sequence[Point]) -> list[tuple[int, float]]:
    """(rank, minus crowding) of each point: what tournaments and selection compare; smaller is better."""
    found: list[tuple[int, float]] = [(0, 0.0)] * len(points)
    for number, front in enumerate(fronts(points)):
        for i, distance in zip(front, crowding([points[i] for i in front]), strict=True):
            found[i] = (number, -distance)
    return found


def tournament(rng: random.Random, worth: Sequence[tuple[float, ...]]) -> int:
    """Index of the better of two drawn at random; of equals, the one drawn first."""
    a, b = rng.randrange(len(worth)), rng.randrange(len(worth))
    return b if worth[b] < worth[a] else a


def select(points: Sequence[Point], count: int) -> list[int]:
    """Indices of the best ``count`` points by rank, then crowding, then place; best first."""
    worths = worth(points)
    return sorted(range(len(points)), key=lambda i: (worths[i], i))[:count]
