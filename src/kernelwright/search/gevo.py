"""GEVO's search as published (paper 000, Algorithm 1 and section 3): the control arm.

    pop ← PopSize × the original, each mutated InitDist times
    while not over:
        offspring ← tournament(pop, PopSize);  elites ← best quarter of pop
        for every two of offspring:  with probability CrossRate    one-point messy crossover, until valid
        for each of offspring:       with probability MutateRate   one more edit, drawn until valid
        pop ← best PopSize of elites + offspring                   (rank, then crowding distance)

Population 256, crossover 80 %, mutation 30 % and InitDist 3 are section 4.1's. What the paper leaves open, and how it is
settled here:

- *Until valid.* A mutation or crossover that fails is thrown away and drawn anew from the same parents (section 3.4:
  "eliminate invalid modifications"). Without a bound a search can stand still for ever, so ``trials`` bounds it; a parent
  for which none was found stays as it is. Crossover is bounded by the number of genes of both parents, as in the
  authors' program.
- *Crossover with one valid child.* It counts, as in the authors' program; the other child's place keeps its parent.
- *Edits both parents have* go into the shuffled sequence twice, and once into a child that gets both.
- *Tournament*: of two drawn at random with replacement (DEAP, on which GEVO stands, knows variants; the paper none).
- *Pairs*: neighbours in the order of the tournament, as Algorithm 1's "every 2 individual".
- *Ties, duplicates, clean-up*: the paper has none, so objectives are compared as they are. A genome that is known is
  not evaluated again (the authors' program remembers too), which costs no budget.
- *The original* is evaluated first, once, so that there is something to compare with.
- *The first generation* of a search with few evaluations: on kernels of which 7 % of the edits are right, 256 individuals with three
  edits each cost 11,000. The paper's search had two days; one that is given a number of evaluations spends at most a quarter of
  them there, some individuals after another, and goes on with as many as it has got.
- *Batches*: Algorithm 1 is sequential. Individuals do not depend on one another within a step, so each round of trials
  is one batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from kernelwright.search.crossover import messy_crossover
from kernelwright.search.nsga2 import Point, select, tournament, worth
from kernelwright.search.planned import Asking, Plan, Planned
from kernelwright.search.strategy import Budget, Hooks, Result

G = TypeVar("G", bound=Hashable)


INITIALISING = 0.25
"""The share of the evaluations that the first generation may take, where they are limited."""
TOGETHER = 8
"""Individuals that are made at once then."""
LEAST = 4
"""Individuals of a population: a quarter of them are the elites."""


class Gevo(Planned[tuple[G, ...]]):
    """Algorithm 1. Raises ``ValueError`` when told that the original is rejected."""

    def __init__(
        self,
        hooks: Hooks[G],
        *,
        seed: int = 0,
        budget: Budget | None = None,
        population: int = 256,
        crossover: float = 0.8,
        mutation: float = 0.3,
        distance: int = 3,
        trials: int = 100,
    ) -> None:
        """``distance`` is InitDist. ``trials``: draws per mutation before it is given up."""
        if population < LEAST:
            raise ValueError(f"a population of {population}: a quarter of it are the elites, so it needs at least 4")
        super().__init__(seed=seed, budget=budget, same=hooks.same)
        self._hooks, self._size = hooks, population
        evaluations = self.budget.evaluations
        self._until = None if evaluations is None else int(INITIALISING * evaluations)
        self._crossover, self._mutation, self._distance, self._trials = crossover, mutation, distance, trials

    @property
    def population(self) -> int:
        return self._size

    def plan(self) -> Plan[tuple[G, ...]]:
        population = yield from self._initial()
        while self.next_generation():
            self.phase = "evolve"
            worths = worth(_points(population))
            offspring = [population[tournament(self.random, worths)] for _ in range(self._size)]
            elites = [population[i] for i in select(_points(population), self._size // 4)]
            yield from self._recombine(offspring)
            yield from self._mutate(offspring, [i for i in range(self._size) if self.random.random() < self._mutation])
            candidates = elites + offspring
            population = [candidates[i] for i in select(_points(candidates), self._size)]

    def _initial(self) -> Asking[tuple[G, ...], list[Result[tuple[G, ...]]]]:
        self.phase = "initialise"
        original = yield from self.first(())
        population: list[Result[tuple[G, ...]]] = []
        while len(population) < self._size and not self._is_initialised and not self.is_over:
            left = self._size - len(population)
            some = [original] * (left if self._until is None else min(left, TOGETHER))
            for _ in range(self._distance):
                yield from self._mutate(some, list(range(len(some))))
            population += some
        population += [original] * (LEAST - len(population))
        self._size, self._until = len(population), None
        return population

    @property
    def _is_initialised(self) -> bool:
        """Whether the first generation has had its share of the budget."""
        return self._until is not None and self.evaluations >= self._until

    def _recombine(self, offspring: list[Result[tuple[G, ...]]]) -> Asking[tuple[G, ...], None]:
        """Crosses neighbours, in place."""
        pairs = [i for i in range(0, len(offspring) - 1, 2) if self.random.random() < self._crossover]
        trials = {i: offspring[i].genes + offspring[i + 1].genes for i in pairs}
        while pairs and not self.is_over:
            children = [messy_crossover(self.random, offspring[i].candidate, offspring[i + 1].candidate) for i in pairs]
            results = yield from self.evaluate([child for two in children for child in two])
            crossed = set()
            for place, result in zip([p for i in pairs for p in (i, i + 1)], results, strict=True):
                if result is not None and result.objectives is not None:
                    offspring[place] = result
                    crossed.add(place // 2 * 2)
            for i in pairs:
                trials[i] -= 1
            pairs = [i for i in pairs if i not in crossed and trials[i] > 0]

    def _mutate(self, individuals: list[Result[tuple[G, ...]]], places: list[int]) -> Asking[tuple[G, ...], None]:
        """Adds a gene to those at ``places``, in place."""
        for _ in range(self._trials):
            if not places or self.is_over or self._is_initialised:
                return
            genes = [self._hooks.draw(self.random, individuals[i].candidate) for i in places]
            mutants = [
                (i, (*individuals[i].candidate, gene))
                for i, gene in zip(places, genes, strict=True)
                if gene is not None and gene not in individuals[i].candidate
            ]
            results = yield from self.evaluate([mutant for _, mutant in mutants])
            mutated = set()
            for (i, _), result in zip(mutants, results, strict=True):
                if result is not None and result.objectives is not None:
                    individuals[i] = result
                    mutated.add(i)
            places = [i for i in places if i not in mutated]


def _points(results: Sequence[Result[tuple[G, ...]]]) -> list[Point]:
    return [result.objectives for result in results if result.objectives is not None]
