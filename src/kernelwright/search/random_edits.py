"""Edits drawn at random and nothing else: what a search gains is what it finds beyond this.

until the budget ends:
    genome ← 1 to ``distance`` genes drawn one after another, each for what the ones before have made
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from kernelwright.search.planned import Plan, Planned
from kernelwright.search.strategy import Budget, Hooks

G = TypeVar("G", bound=Hashable)

BATCH = 64


class RandomEdits(Planned[tuple[G, ...]]):
    """Raises ``ValueError`` when told that the original is rejected."""

    def __init__(
        self,
        hooks: Hooks[G],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        distance: int = 3,
        population: int = BATCH,
    ) -> None:
        """``distance``: genes of a genome at most. ``population``: genomes of a batch."""
        super().__init__(seed=seed, budget=budget, same=hooks.same)
        self._hooks, self._distance, self._batch = hooks, distance, population

    def plan(self) -> Plan[tuple[G, ...]]:
        yield from self.first(())
        self.phase = "draw"
        while self.next_generation():
            yield from self.evaluate([self._drawn() for _ in range(self._batch)])

    def _drawn(self) -> tuple[G, ...]:
        genome: tuple[G, ...] = ()
        for _ in range(self.random.randint(1, self._distance)):
            gene = self._hooks.draw(self.random, genome)
            if gene is not None and gene not in genome:
                genome = (*genome, gene)
        return genome
