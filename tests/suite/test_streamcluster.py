"""Stream clustering: the oracle against a search that recomputes every sum with fractions, and what a clustering is."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.program import Size
from kernelwright.suite.streamcluster import workload

Point = tuple[int, ...]


class Lottery:
    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (1664525 * self.state + 1013904223) & 0xFFFFFFFF
        return self.state

    def draw(self, items: list[int], count: int) -> list[int]:
        """``count`` of the items, in random order, by swapping; the others follow."""
        for i in range(count):
            j = i + self.next() * (len(items) - i) // 2**32
            items[i], items[j] = items[j], items[i]
        return items[:count]


def distance(a: Point, b: Point) -> int:
    return sum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def slow_cluster(
    points: list[Point], weights: list[int], least: int, most: int, lottery: Lottery
) -> tuple[list[Point], list[int], int]:
    """Keeps nothing but which point each point belongs to; the whole objective is evaluated for every candidate."""
    n = len(points)
    if n <= least:
        return points, weights, 0
    order = list(range(n))
    lottery.draw(order, n)
    centre = [order[0]] * n

    def cost(centres: list[int]) -> int:
        return sum(weights[i] * distance(points[i], points[c]) for i, c in enumerate(centres))

    def nearer(i: int, c: int) -> bool:
        return distance(points[i], points[c]) < distance(points[i], points[centre[i]])

    low, high = Fraction(0), Fraction(cost(centre))
    price = high / 2
    for c in order[1:]:
        chance = Fraction(lottery.next() >> 8, 2**24)
        if chance * price < weights[c] * distance(points[c], points[centre[c]]):
            centre = [c if nearer(i, c) else old for i, old in enumerate(centre)]
    candidates = lottery.draw(order, min(n, 1 + int(3 * most * math.log(most))))
    for _ in range(20):
        while True:
            lottery.draw(candidates, len(candidates))
            before = cost(centre) + price * len(set(centre))
            for c in candidates:
                if c in centre:
                    continue
                changed = [c if nearer(i, c) else old for i, old in enumerate(centre)]
                for old in set(centre):
                    handed_over = [c if now == old else now for now in changed]
                    if cost(handed_over) - cost(changed) < price:
                        changed = handed_over
                # A centre that lost all its points by itself would still be paid for, unless it closed: it costs nothing.
                if cost(changed) + price * len(set(changed)) < cost(centre) + price * len(set(centre)):
                    centre = changed
            after = cost(centre) + price * len(set(centre))
            if (before - after) * 10 <= after:
                break
        if len(set(centre)) > most:
            low = price
        elif len(set(centre)) < least:
            high = price
        else:
            break
        price = (low + high) / 2
    chosen = sorted(set(centre))
    stands_for = [sum(weights[i] for i in range(n) if centre[i] == c) for c in chosen]
    return [points[c] for c in chosen], stands_for, cost(centre)


@pytest.mark.parametrize("seed", range(30))
def test_the_oracle_agrees_with_a_search_that_recomputes_everything(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    dims, chunk, least, most, start = (int(a) for a in argv[1:6])
    stream = [tuple(int(v) for v in p) for p in np.fromfile(tmp_path / argv[0], dtype=np.float32).reshape(-1, dims)]
    lottery = Lottery(start)
    first = slow_cluster(stream[:chunk], [1] * chunk, least, most, lottery)
    second = slow_cluster(stream[chunk:], [1] * (len(stream) - chunk), least, most, lottery)
    want = workload.oracle(tmp_path, argv)
    assert want["costs"][:2].tolist() == [first[2], second[2]]
    # The order of a chunk's centres decides how the last search goes on; both orders are compared as sets before it.
    centres, weights = chunk_centres(tmp_path, argv)
    assert set(zip(centres, weights, strict=True)) == set(zip(first[0] + second[0], first[1] + second[1], strict=True))
    last = slow_cluster(centres, weights, least, most, lottery)
    assert want["costs"][2] == last[2]
    got = [tuple(int(v) for v in c) for c in want["centres"].reshape(-1, dims)]
    assert set(zip(got, want["weights"].tolist(), strict=True)) == set(zip(last[0], last[1], strict=True))


def chunk_centres(folder: Path, argv: tuple[str, ...]) -> tuple[list[Point], list[int]]:
    """What the oracle keeps of the chunks, in its order."""
    dims, chunk, least, most, start = (int(a) for a in argv[1:6])
    stream = np.fromfile(folder / argv[0], dtype=np.float32).reshape(-1, dims).astype(np.float64)
    random = workload.Random(start)
    centres: list[Point] = []
    weights: list[int] = []
    for begin in range(0, len(stream), chunk):
        part = stream[begin : begin + chunk]
        chosen, weight, _ = workload._cluster(part, np.ones(len(part)), least, most, random)
        centres += [tuple(int(v) for v in part[c]) for c in chosen]
        weights += [int(w) for w in weight]
    return centres, weights


@pytest.mark.parametrize("size", ["tiny", "small"])
@pytest.mark.parametrize("seed", range(3))
def test_centres_are_points_that_stand_for_all_others(tmp_path: Path, size: Size, seed: int) -> None:
    argv = workload.generate(tmp_path, size, seed)
    dims, chunk, least, most = (int(a) for a in argv[1:5])
    stream = np.fromfile(tmp_path / argv[0], dtype=np.float32).reshape(-1, dims)
    want = workload.oracle(tmp_path, argv)
    centres = want["centres"].reshape(-1, dims)
    assert least <= len(centres) <= most
    assert want["weights"].sum() == len(stream)
    assert {tuple(c) for c in centres.tolist()} <= {tuple(p) for p in stream.tolist()}
    assert len(want["costs"]) == -(-len(stream) // chunk) + 1


@pytest.mark.parametrize("seed", range(3))
def test_the_centres_found_explain_the_stream(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "small", seed)
    stream = np.fromfile(tmp_path / argv[0], dtype=np.float32).reshape(-1, int(argv[1]))
    centres = workload.oracle(tmp_path, argv)["centres"].reshape(-1, stream.shape[1])
    squared = ((stream[:, None, :].astype(np.float64) - centres) ** 2).sum(axis=2).min(axis=1)
    assert squared.sum() < 0.5 * ((stream - stream.mean(axis=0)) ** 2).sum()


def test_random_numbers_are_those_of_numerical_recipes() -> None:
    random = workload.Random(0)
    assert [random.next() for _ in range(3)] == [0x3C6EF35F, 0x47502932, 0xD1CCF6E9]


@pytest.mark.parametrize("size", ["tiny", "small", "large"])
def test_every_sum_of_distances_is_exact(tmp_path: Path, size: Size) -> None:
    points, dims, *_ = workload.SHAPE[size]
    assert dims * 255**2 < 2**24  # in float32, for one point
    assert points * dims * 255**2 < 2**53  # in float64, for all of them
    if size != "large":
        stream = np.fromfile(tmp_path / workload.generate(tmp_path, size, 1)[0], dtype=np.float32)
        assert (stream == np.round(stream)).all()
        assert stream.min() >= 0 and stream.max() <= 255
