"""Ranks, crowding and selection: against brute force, against moocore, and on ZDT."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search import crowding, dominates, fronts, select, tournament
from kernelwright.search.nsga2 import Point, worth

COARSE = st.integers(0, 6).map(float)  # coarse, so that equal values and equal points come up
CLOUDS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[COARSE] * width), max_size=40))


def ranks_by_definition(points: list[Point]) -> list[int]:
    """Peels off what nothing that is left dominates."""
    left, found, number = set(range(len(points))), [0] * len(points), 0
    while left:
        front = {i for i in left if not any(dominates(points[j], points[i]) for j in left)}
        for i in front:
            found[i] = number
        left, number = left - front, number + 1
    return found


def test_dominates() -> None:
    assert dominates((1.0, 2.0), (1.0, 3.0)) and dominates((1.0,), (2.0,))
    assert not dominates((1.0, 2.0), (1.0, 2.0))
    assert not dominates((1.0, 3.0), (2.0, 2.0)) and not dominates((2.0,), (1.0,))


def ranks(points: list[Point]) -> list[int]:
    found = {i: n for n, front in enumerate(fronts(points)) for i in front}
    return [found[i] for i in range(len(points))]


@given(CLOUDS)
def test_ranks_are_those_of_the_definition(points: list[Point]) -> None:
    assert ranks(points) == ranks_by_definition(points)
    assert sorted(i for front in fronts(points) for i in front) == list(range(len(points)))


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_ranks_are_those_of_moocore(width: int) -> None:
    cloud = np.random.default_rng(width).integers(0, 30, (300, width)).astype(float)
    assert ranks([tuple(p) for p in cloud.tolist()]) == moocore.pareto_rank(cloud).tolist()


def test_crowding_by_hand() -> None:
    points = [(0.0, 10.0), (1.0, 6.0), (4.0, 4.0), (10.0, 0.0)]
    assert crowding(points) == [math.inf, 4 / 10 + 6 / 10, 9 / 10 + 6 / 10, math.inf]
    assert crowding([]) == []
    assert crowding([(1.0, 2.0)] * 3) == [0.0, 0.0, 0.0]
    assert crowding([(3.0, 0.0), (3.0, 1.0), (3.0, 2.0)]) == [math.inf, 1.0, math.inf]  # the first says nothing


def test_crowding_is_that_of_pymoo() -> None:
    """Figures of pymoo 0.6.2's ``calc_crowding_distance``, which divides by the number of objectives."""
    points = [
        (0.637, 0.270),
        (0.041, 0.017),
        (0.813, 0.913),
        (0.607, 0.729),
        (0.544, 0.935),
        (0.816, 0.003),
        (0.857, 0.034),
    ]
    theirs = [0.500, math.inf, 0.220, 0.402, math.inf, math.inf, math.inf]
    assert [d / 2 for d in crowding(points)] == pytest.approx(theirs, abs=0.001)


def test_selection_is_elitist_and_spreads() -> None:
    front = [(float(i), float(10 - i)) for i in range(11)]
    behind = [(x + 1, y + 1) for x, y in front]
    chosen = select(behind + front, 11)
    assert sorted(chosen) == list(range(11, 22))
    assert {11, 21} == set(select(behind + front, 2))  # the extremes first
    assert select([(3.0,), (1.0,), (2.0,)], 2) == [1, 2]
    assert select([], 3) == []


@given(CLOUDS, st.integers(0, 10))
def test_no_selected_point_is_dominated_by_one_left_out(points: list[Point], count: int) -> None:
    chosen = select(points, count)
    assert len(chosen) == len(set(chosen)) == min(count, len(points))
    left = set(range(len(points))) - set(chosen)
    assert not any(dominates(points[i], points[j]) for i in left for j in chosen)


def test_tournaments_prefer_the_better() -> None:
    worths = worth([(float(i),) for i in range(10)])
    rng = random.Random(0)
    won = [tournament(rng, worths) for _ in range(4000)]
    # The best of ten wins every tournament it is drawn for: 1 - 0.9² = 19 %; the worst only against itself: 1 %.
    assert 0.16 < won.count(0) / 4000 < 0.22 and won.count(9) / 4000 < 0.02


# --- ZDT (Zitzler, Deb, Thiele 2000): fronts that are known, reached with a plain real-valued NSGA-II on these functions

ZDT: dict[str, Callable[[float, float], float]] = {
    "zdt1": lambda f, g: 1 - math.sqrt(f / g),
    "zdt2": lambda f, g: 1 - (f / g) ** 2,
    "zdt3": lambda f, g: 1 - math.sqrt(f / g) - f / g * math.sin(10 * math.pi * f),
}


def zdt(name: str, x: list[float]) -> Point:
    g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
    return x[0], g * ZDT[name](x[0], g)


def evolve(name: str, seed: int, size: int = 60, generations: int = 150, variables: int = 10) -> list[Point]:
    """NSGA-II with simulated binary crossover and polynomial mutation, as in Deb's paper."""
    rng = random.Random(seed)

    def cross(a: list[float], b: list[float]) -> list[float]:
        u = rng.random()
        beta = (2 * u) ** (1 / 16) if u < 0.5 else (1 / (2 - 2 * u)) ** (1 / 16)
        sign = rng.choice((-1, 1))
        return [(x + y + sign * beta * (x - y)) / 2 if rng.random() < 0.5 else x for x, y in zip(a, b, strict=True)]

    def mutate(x: float) -> float:
        if rng.random() >= 1 / variables:
            return x
        u = rng.random()
        return x + ((2 * u) ** (1 / 21) - 1 if u < 0.5 else 1 - (2 - 2 * u) ** (1 / 21))

    population = [[rng.random() for _ in range(variables)] for _ in range(size)]
    points = [zdt(name, x) for x in population]
    for _ in range(generations):
        worths = worth(points)
        parents = [(population[tournament(rng, worths)], population[tournament(rng, worths)]) for _ in range(size)]
        children = [[min(1.0, max(0.0, mutate(x))) for x in cross(a, b)] for a, b in parents]
        population, points = population + children, points + [zdt(name, x) for x in children]
        chosen = select(points, size)
        population, points = [population[i] for i in chosen], [points[i] for i in chosen]
    return points


@pytest.mark.parametrize(
    ("name", "ideal", "pymoo"), [("zdt1", 0.8714, 0.8666), ("zdt2", 0.5383, 0.5334), ("zdt3", 1.3291, 1.3262)]
)
def test_zdt_is_solved_as_well_as_by_pymoo(name: str, ideal: float, pymoo: float) -> None:
    """Hypervolumes up to (1.1, 1.1); pymoo's are means over three seeds of its NSGA-II at the same population and generations."""
    reached = moocore.hypervolume(evolve(name, seed=0), ref=(1.1, 1.1))
    assert pymoo - 0.01 < reached < ideal
