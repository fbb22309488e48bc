"""Clustering of a stream of image descriptors: inputs, outputs and reference."""

from __future__ import annotations

import math
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# points, coordinates, points per chunk, fewest and most centres
SHAPE: dict[Size, tuple[int, int, int, int, int]] = {
    "minute": (37, 3, 20, 2, 2),
    "tiny": (50, 2, 30, 2, 2),
    "small": (2500, 16, 1000, 4, 6),
    "medium": (3100, 19, 1300, 4, 6),
    "large": (65_536, 256, 65_536, 10, 20),
}
MAX_CENTRES = 1024
GOOD_ENOUGH = 0.1
BISECTIONS = 20


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Descriptors of 8 bits per coordinate, as image features have them, around some typical ones.

    Whole coordinates make every distance and every sum exact, in whatever order a device adds them up: the search then
    takes the same decisions everywhere. Apart from ``large`` the number of points varies with the seed.
    """
    rng = np.random.default_rng(seed)
    points, dims, chunk, least, most = SHAPE[size]
    if size != "large":
        points -= int(rng.integers(0, 15))
    typical = rng.uniform(40.0, 215.0, ((least + most) // 2, dims))
    which = rng.choice(len(typical), size=points, p=rng.dirichlet(np.full(len(typical), 3.0)))
    descriptors = rng.normal(typical[which], 14.0)
    np.clip(np.round(descriptors), 0, 255).astype(np.float32).tofile(folder / "points.bin")
    numbers = (dims, chunk, least, most, int(rng.integers(1 << 31)))
    return ("points.bin", *(str(n) for n in numbers), "centres.bin", "weights.bin", "costs.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``centres``: float32, the coordinates, centre after centre. ``weights``: float32, how many points each stands
    for. ``costs``: float64, the sum of squared distances of each chunk, then of all chunks' centres if there are several."""
    return {
        "centres": np.fromfile(folder / "centres.bin", dtype=np.float32),
        "weights": np.fromfile(folder / "weights.bin", dtype=np.float32),
        "costs": np.fromfile(folder / "costs.bin", dtype=np.float64),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same search with the same random numbers, all points at a time."""
    dims, chunk, least, most, seed = (int(a) for a in argv[1:6])
    stream = np.fromfile(folder / argv[0], dtype=np.float32).reshape(-1, dims).astype(np.float64)
    random = Random(seed)
    costs: list[float] = []
    centres, weights = np.empty((0, dims)), np.empty(0)
    for first in range(0, len(stream), chunk):
        part = stream[first : first + chunk]
        chosen, weight, cost = _cluster(part, np.ones(len(part)), least, most, random)
        centres, weights = np.vstack([centres, part[chosen]]), np.concatenate([weights, weight])
        costs.append(cost)
    if len(costs) > 1:
        chosen, weight, cost = _cluster(centres, weights, least, most, random)
        centres, weights = centres[chosen], weight
        costs.append(cost)
    return {"centres": centres.ravel(), "weights": weights, "costs": np.array(costs)}


@dataclass
class Random:
    """The program's random numbers: a linear congruential generator."""

    state: int

    def next(self) -> int:
        """The next state, from 0 to 2**32 - 1."""
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state

    def shuffle(self, items: list[int], picked: int) -> None:
        """Puts a random choice of ``picked`` items at the front, in place."""
        for i in range(picked):
            other = i + (self.next() * (len(items) - i) >> 32)
            items[i], items[other] = items[other], items[i]


@dataclass
class Clustering:
    """Which centre each point belongs to, and what that costs."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    centres: list[int]
    distances: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.squares = (self.points**2).sum(axis=1)
        self.costs = self.measure(self.centres[0])
        self.members = np.zeros(len(self.points), dtype=np.int64)

    def measure(self, point: int) -> NDArray[np.float64]:
        """Weighted squared distances to a point: exact, as long as all coordinates are whole."""
        if point not in self.distances:
            squared = self.squares + self.squares[point] - 2.0 * (self.points @ self.points[point])
            self.distances[point] = self.weights * squared
        return self.distances[point]

    def open(self, point: int, closing: NDArray[np.bool_]) -> None:
        """Makes ``point`` a centre; the centres in ``closing`` hand their points to it."""
        new = self.measure(point)
        moves = (new < self.costs) | closing[self.members]
        number = np.cumsum(~closing) - 1
        self.centres = [c for c, closes in zip(self.centres, closing, strict=True) if not closes] + [point]
        self.members = np.where(moves, len(self.centres) - 1, number[self.members])
        self.costs = np.where(moves, new, self.costs)


def _cluster(
    points: NDArray[np.float64], weights: NDArray[np.float64], least: int, most: int, random: Random
) -> tuple[list[int], NDArray[np.float64], float]:
    """The chosen points, the weight each stands for, and the cost."""
    if len(points) <= least:
        return list(range(len(points))), weights, 0.0
    order = list(range(len(points)))
    random.shuffle(order, len(order))
    clustering = Clustering(points, weights, [order[0]])
    low, high = 0.0, float(clustering.costs.sum())
    price = high / 2
    for point in order[1:]:
        if len(clustering.centres) == MAX_CENTRES:
            break
        if (random.next() >> 8) / 2**24 * price < clustering.costs[point]:
            clustering.open(point, np.zeros(len(clustering.centres), dtype=np.bool_))
    candidates = min(len(points), 1 + int(3 * most * math.log(most)))
    random.shuffle(order, candidates)
    feasible = order[:candidates]
    for _ in range(BISECTIONS):
        _search_locally(clustering, feasible, price, random)
        if len(clustering.centres) > most:
            low = price
        elif len(clustering.centres) < least:
            high = price
        else:
            break
        price = (low + high) / 2
    weight: NDArray[np.float64] = np.bincount(
        clustering.members, weights=weights, minlength=len(clustering.centres)
    ).astype(np.float64)
    return clustering.centres, weight, float(clustering.costs.sum())


def _search_locally(clustering: Clustering, feasible: list[int], price: float, random: Random) -> None:
    while True:
        saved = 0.0
        random.shuffle(feasible, len(feasible))
        for point in feasible:
            if point in clustering.centres:
                continue
            change = clustering.measure(point) - clustering.costs
            nearer = change < 0
            count = len(clustering.centres)
            handed_over = np.bincount(clustering.members, weights=np.where(nearer, 0.0, change), minlength=count)
            closing = handed_over < price
            gain = float(-change[nearer].sum()) - price + float((price - handed_over[closing]).sum())
            if gain > 0 and count - int(closing.sum()) < MAX_CENTRES:
                clustering.open(point, closing)
                saved += gain
        if saved <= GOOD_ENOUGH * (float(clustering.costs.sum()) + price * len(clustering.centres)):
            return


PROGRAM = SuiteProgram(
    name="streamcluster",
    title="Stream clustering",
    summary="Medians of a stream by local search: what a new centre would save, a row of sums for each point.",
    sources=("streamcluster.c", "clustering.cu"),
    flags=(),
    generate=generate,
    outputs=("centres.bin", "weights.bin", "costs.bin"),
    read=read,
    oracle=oracle,
    tolerance={
        "centres": Tolerance("centres are points of the stream"),
        "weights": Tolerance("numbers of points"),
        "costs": Tolerance("sums of whole numbers"),
    },
)
