"""Guards in a loop whose sizes depend on what was taken before, as in a reduction over several levels: what one version leaves is the next
one's size, so that a guard meets values that depend on its own decisions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping

from kernelwright.versions.program import INFINITE, Compared, Ran
from kernelwright.versions.thresholds import tune


class Loop:
    """A loop over a size that each version makes smaller by a factor of its own, behind a chain of guards on the size."""

    deterministic = True

    def __init__(self, sizes: Mapping[str, int], factors: list[int], cost: Callable[[int, int], float]) -> None:
        """``factors``: of each version, the last of the version of no guard; ``cost``: of a version at a size."""
        self.sizes, self.factors, self.cost = sizes, factors, cost
        self.runs = 0

    def run(self, dataset: str, thresholds: Mapping[str, int]) -> Ran:
        self.runs += 1
        size, compared, time = self.sizes[dataset], list[Compared](), 0.0
        while size > 1:
            version = 0
            while version < len(self.factors) - 1:
                taken = size >= thresholds.get(f"g{version}", INFINITE)
                compared.append(Compared(f"g{version}", size, taken))
                if taken:
                    break
                version += 1
            time += self.cost(version, size)
            size = -(-size // self.factors[version])
        return Ran(tuple(compared), time)

    def least(self, dataset: str) -> float:
        """Of all assignments that can be told apart."""
        sizes, waiting = set[int](), [self.sizes[dataset]]
        while waiting:
            size = waiting.pop()
            if size > 1 and size not in sizes:
                sizes.add(size)
                waiting += [-(-size // factor) for factor in self.factors]
        names = [f"g{number}" for number in range(len(self.factors) - 1)]
        chosen = itertools.product([*sorted(sizes), INFINITE], repeat=len(names))
        times = (self.run(dataset, dict(zip(names, each, strict=True))).time_us for each in chosen)
        return min(time for time in times if time is not None)


def test_a_guard_above_is_decided_again_when_the_values_of_one_below_depend_on_itself() -> None:
    """At 1000, g1 is best, and leaves 2, at which g2 is; g1 is compared at 2 before anything is known of g2 there, and wins."""
    costs = {1000: (9.9, 9.4, 9.7, 10.0), 4: (3.2, 2.9, 2.7, 3.0), 2: (3.2, 2.9, 2.7, 3.0)}
    program = Loop({"a": 1000}, [500, 500, 500, 250], lambda version, size: costs[size][version])
    tuning = tune(program, ["a"])
    assert tuning.datasets[0].tuned_us == 9.4 + 2.7
    assert 2 < tuning.thresholds["g1"] <= 1000 and tuning.thresholds["g2"] <= 2


def random_loop(seed: int) -> Loop:
    """The version of each guard is faster than all below it from a size of its own on."""
    generator = random.Random(seed)
    guards = 1 + seed % 3
    crossovers = [generator.choice((0, 3, 20, 200)) for _ in range(guards)]

    def cost(version: int, size: int) -> float:
        at_this_size = random.Random(f"{seed} {size}")
        best = at_this_size.uniform(50, 60) + size * 0.01
        for guard, crossover in enumerate(crossovers):
            worse = best + at_this_size.uniform(0.5, 8)
            wins = size >= crossover
            if guard == version:
                return best if wins else worse
            best = worse if wins else best
        return best

    factors = [generator.choice((256, 128, 16)) for _ in range(guards + 1)]
    return Loop({"a": generator.choice((50, 1000, 5000, 70000, 500000))}, factors, cost)


def test_few_loops_miss_the_best_and_by_little() -> None:
    """Two hundred. What a version leaves is a price of its own, which no order of decisions knows: versions are not quite monotonic."""
    over = []
    for seed in range(200):
        program = random_loop(seed)
        found = tune(program, ["a"]).datasets[0].best_us
        over.append(found / program.least("a") - 1)
    assert sum(each > 1e-9 for each in over) <= 8 and max(over) < 0.05
