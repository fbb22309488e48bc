"""Generation after generation of individuals, by tournament, crossover and mutation.

    the first: random individuals
    every other: the best of the last one as they are; then, until it is full,
        two parents, each the best of a few drawn     cross them     mutate the children
        a child that this generation has already is drawn again

The same seed and the same answers give the same questions. Unlike the strategies over genomes this one asks about a whole
generation at once, those who live on included, and compares by the first objective alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kernelwright.search.strategy import Budget, Progress, Result

I = TypeVar("I", bound=Hashable)  # noqa: E741

TRIES = 20
"""Draws for one place in a generation before an individual that is there already may take it."""


class Operators(Protocol[I]):
    """What a search over individuals must be told about them. All draw from the dice they are given, and from nothing else."""

    def draw(self, dice: random.Random) -> I:
        """A random individual."""

    def cross(self, dice: random.Random, one: I, other: I) -> list[I]:
        """Children of two parents; none where the parents cannot be crossed."""

    def mutate(self, dice: random.Random, one: I) -> I:
        """A changed child; the parent itself where the draw came to none."""

    def same(self, one: I) -> Hashable:
        """Equal for individuals that are the same program."""


@dataclass(frozen=True)
class Rates:
    """How a generation is made from the last."""

    population: int = 300
    tournament: int = 4
    """Individuals drawn, the best of which becomes a parent."""
    elite: int = 2
    """Individuals that live on as they are."""
    crossover: float = 0.7
    """The share of children with two parents."""
    mutation: float = 0.5
    """The share of children that are changed besides; those with one parent always are."""


class Generations(Generic[I]):
    """A strategy (``search.strategy.Strategy``)."""

    def __init__(
        self, operators: Operators[I], *, seed: int = 0, budget: Budget | None = None, rates: Rates | None = None
    ) -> None:
        """``budget``: of generations; evaluations are not limited, since what is known already is asked about again."""
        self._operators = operators
        self._rates = rates or Rates()
        self._budget = budget or Budget()
        self._rng = random.Random(seed)
        self._asked: list[I] | None = None
        self._parents: list[Result[I]] = []
        self._orders: list[tuple[bool, float]] = []
        self._best: Result[I] | None = None
        self._told = self._accepted = 0
        self._concluding = False
        self.generation = 0
        """From 1 on, once asked."""

    def ask(self) -> list[I]:
        """The next generation; the same one until it was told; [] when there is none any more."""
        if self._asked is None:
            if self._concluding or self.generation == self._budget.generations:
                return []
            self._asked = self._children() if self._parents else self._filled([], self._drawn)
            self.generation += 1
        return self._asked

    def tell(self, results: Sequence[Result[I]]) -> None:
        """Of the generation, in its order. Raises ``ValueError`` for results of others."""
        if self._asked is None or len(results) != len(self._asked):
            raise ValueError(f"{len(results)} results that are not those of the individuals asked, in order")
        self._parents = list(results)
        self._orders = [_order(result) for result in results]
        self._told += len(results)
        self._accepted += sum(result.objectives is not None for result in results)
        self._best = min([*([self._best] if self._best else []), *results], key=_order)
        self._asked = None

    def conclude(self) -> None:
        self._concluding = True

    @property
    def progress(self) -> Progress[I]:
        best = self._best if self._best is not None and self._best.objectives is not None else None
        front = (best,) if best is not None else ()
        phase = f"generation {self.generation}" if self.generation else "start"
        return Progress(phase, self.generation, len(self._parents), self._told, self._accepted, best, front)

    # -- generations ----------------------------------------------------------------------------------------------

    def _drawn(self) -> list[I]:
        return [self._operators.draw(self._rng)]

    def _children(self) -> list[I]:
        elite: dict[Hashable, I] = {}
        for result in sorted(self._parents, key=_order):
            if result.objectives is not None and len(elite) < self._rates.elite:
                elite.setdefault(self._operators.same(result.candidate), result.candidate)
        return self._filled(list(elite.values()), self._bred)

    def _filled(self, begin: list[I], draw: Callable[[], list[I]]) -> list[I]:
        found, known, tries = begin, {self._operators.same(each) for each in begin}, 0
        while len(found) < self._rates.population:
            tries += 1
            for child in draw():
                same = self._operators.same(child)
                if (same not in known or tries > TRIES) and len(found) < self._rates.population:
                    found.append(child)
                    known.add(same)
                    tries = 0
        return found

    def _bred(self) -> list[I]:
        one = self._parent()
        if self._rng.random() >= self._rates.crossover:
            return [self._operators.mutate(self._rng, one)]
        children = self._operators.cross(self._rng, one, self._parent()) or [one]
        return [
            self._operators.mutate(self._rng, each) if self._rng.random() < self._rates.mutation else each
            for each in children
        ]

    def _parent(self) -> I:
        count, order, rng = len(self._parents), self._orders, self._rng
        drawn = [below(rng, count) for _ in range(self._rates.tournament)]
        return self._parents[min(drawn, key=order.__getitem__)].candidate


def below(dice: random.Random, count: int) -> int:
    """A number from 0 up to ``count``, as ``dice.randrange(count)`` and ``dice.choice`` draw it, in a third of the time."""
    bits = count.bit_length()
    found = dice.getrandbits(bits)
    while found >= count:
        found = dice.getrandbits(bits)
    return found


def _order(result: Result[I]) -> tuple[bool, float]:
    """Best first. Of equals the one drawn first: a taste for short programs would leave nothing to vary."""
    return result.objectives is None, result.objectives[0] if result.objectives else 0.0
