"""A population: the best of what was accepted, by rank and crowding on the grid of ties."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from kernelwright.search.nsga2 import tournament, worth
from kernelwright.search.strategy import Result
from kernelwright.search.ties import cell

C = TypeVar("C", bound=Hashable)


class Population(Generic[C]):
    """At most ``size`` accepted results. Ties within ``tie`` go to fewer instructions, then fewer genes."""

    def __init__(self, size: int, tie: float) -> None:
        self._size, self._tie = size, tie
        self.members: list[Result[C]] = []
        self._worths: list[tuple[float, ...]] = []

    def __len__(self) -> int:
        return len(self.members)

    def join(self, results: Iterable[Result[C] | None]) -> None:
        """Population ← the best of population and results; the same program once, with the fewest genes."""
        programs: dict[Hashable, Result[C]] = {}
        for result in (*self.members, *results):
            if result is not None and result.objectives is not None:
                key = result.candidate if result.key is None else result.key
                if key not in programs or result.genes < programs[key].genes:
                    programs[key] = result
        found = list(programs.values())
        worths = worth([cell(result.objectives or (), self._tie) for result in found])
        ranked = [(*w, result.instructions, result.genes) for w, result in zip(worths, found, strict=True)]
        best = sorted(range(len(found)), key=lambda i: ranked[i])[: self._size]
        self.members, self._worths = [found[i] for i in best], [ranked[i] for i in best]

    def pick(self, rng: random.Random) -> Result[C]:
        """By binary tournament."""
        return self.members[tournament(rng, self._worths)]
