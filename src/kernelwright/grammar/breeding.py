"""Breeding: generation after generation of genotypes, by tournament, crossover and mutation.

    the first: random genotypes that derive a program
    every other: the best of the last one as they are; then, until it is full,
        two parents, each the best of a few drawn     cross them     mutate the children
        a child that this generation has already is drawn again; one that derives no program gives way to its parent

The same seed and the same answers give the same questions. Paper 001 leaves operators and numbers open; those here are ours:
crossover exchanges what the same symbol led to in two parents (structure-preserving, Harper and Blair 2005), or, more seldom,
all behind one point; mutation changes single integers, or lets a symbol lead to something else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernelwright.errors import Misuse
from kernelwright.grammar.bnf import Grammar
from kernelwright.grammar.derivation import CODONS as LIMIT
from kernelwright.grammar.derivation import Derivation, Span, derive, spans
from kernelwright.grammar.genotype import (
    CODONS,
    Genotype,
    crossover,
    exchange,
    mutate,
    random_genotype,
    unrolled,
)

TRIES = 20
"""Draws for one place in a generation before a program that is there already may take it."""
FIRST_TRIES = 200
"""Draws of random genotypes for one place before the grammar is given up."""
ONE_POINT = 0.1
"""The share of crossovers at one point."""
REGROW = 0.5
"""The share of mutations that let a symbol lead to something else."""


@dataclass(frozen=True)
class Dials:
    """How a generation is made from the last. Raises ``Misuse``."""

    population: int = 300
    tournament: int = 4
    """Individuals drawn, the best of which becomes a parent."""
    elite: int = 2
    """Individuals that live on as they are."""
    crossover: float = 0.7
    """The share of children with two parents."""
    mutation: float = 0.5
    """The share of children that are changed besides; those with one parent always are."""
    codons: int = CODONS
    """Integers of a random genotype."""
    longest: int = CODONS
    """Choices that a child's derivation may take: without a limit, programs grow from generation to generation."""

    def __post_init__(self) -> None:
        if self.population < 2:
            raise Misuse(f"a population of {self.population} is too small to breed from", hint="--population 300")
        if not 0 <= self.elite < self.population:
            raise Misuse(f"an elite of {self.elite} leaves no place for children", hint="fewer than the population")
        if min(self.tournament, self.codons, self.longest) < 1:
            raise Misuse(
                "a tournament, a genotype and a derivation have at least one member",
                hint="tournament=4, codons=221, longest=221",
            )
        if not (0 <= self.crossover <= 1 and 0 <= self.mutation <= 1):
            raise Misuse("crossover and mutation are shares of the children", hint="crossover=0.7, mutation=0.5")


class Individual(NamedTuple):
    genotype: Genotype
    derivation: Derivation

    @property
    def text(self) -> str:
        return self.derivation.text


class Breeding:
    """Ask and tell: ``ask`` for a generation, ``tell`` what each of it is worth; None for what is worth nothing."""

    def __init__(self, grammar: Grammar, dials: Dials, seed: int, better: Callable[[float, float], bool]) -> None:
        self._grammar = grammar
        self._dials = dials
        self._rng = random.Random(seed)
        self._better = better
        self._asked: list[Individual] | None = None
        self._parents: list[tuple[Individual, float | None]] = []
        self.generation = 0
        """From 1 on, once asked."""

    def ask(self) -> list[Individual]:
        """The next generation; the same one until it was told. Raises ``Misuse`` for a grammar whose derivations hardly end."""
        if self._asked is None:
            self._asked = self._children() if self._parents else self._filled([], self._random)
            self.generation += 1
        return self._asked

    def tell(self, worths: Sequence[float | None]) -> None:
        """Of the generation, in its order."""
        assert self._asked is not None and len(worths) == len(self._asked)
        self._parents = list(zip(self._asked, worths, strict=True))
        self._asked = None

    # -- generations ----------------------------------------------------------------------------------------------

    def _random(self) -> list[Individual]:
        for _ in range(FIRST_TRIES):
            if found := self._individual(random_genotype(self._rng, self._dials.codons), LIMIT):
                return [found]
        raise Misuse(
            f"of {FIRST_TRIES} random genotypes none derives a program within {LIMIT} choices",
            hint="give the symbols that lead to themselves more alternatives that do not",
        )

    def _children(self) -> list[Individual]:
        elite: dict[str, Individual] = {}
        for individual, worth in sorted(self._parents, key=self._order):
            if worth is not None and len(elite) < self._dials.elite:
                elite.setdefault(individual.text, individual)
        return self._filled(list(elite.values()), self._bred)

    def _filled(self, begin: list[Individual], draw: Callable[[], list[Individual]]) -> list[Individual]:
        found, texts, tries = begin, {each.text for each in begin}, 0
        while len(found) < self._dials.population:
            tries += 1
            for child in draw():
                if (child.text not in texts or tries > TRIES) and len(found) < self._dials.population:
                    found.append(child)
                    texts.add(child.text)
                    tries = 0
        return found

    def _bred(self) -> list[Individual]:
        one = self._parent()
        if self._rng.random() >= self._dials.crossover:
            return [self._mutated(one)]
        children = self._crossed(one, self._parent()) or [one]
        return [self._mutated(each) if self._rng.random() < self._dials.mutation else each for each in children]

    def _parent(self) -> Individual:
        drawn = [self._parents[self._rng.randrange(len(self._parents))] for _ in range(self._dials.tournament)]
        return min(drawn, key=self._order)[0]

    def _order(self, each: tuple[Individual, float | None]) -> tuple[bool, float]:
        """Best first. Of equals the one drawn first: a taste for short programs would leave nothing to vary."""
        sign = -1 if self._better(1.0, 0.0) else 1
        return each[1] is None, sign * (each[1] or 0.0)

    # -- children -------------------------------------------------------------------------------------------------

    def _individual(self, genotype: Genotype, longest: int = 0) -> Individual | None:
        derivation = derive(self._grammar, genotype, longest or self._dials.longest)
        return Individual(genotype, derivation) if derivation else None

    def _crossed(self, one: Individual, other: Individual) -> list[Individual]:
        """Those of two children that derive a program."""
        if self._rng.random() < ONE_POINT:
            within = min(one.derivation.used, other.derivation.used)
            pair = crossover(one.genotype, other.genotype, self._rng, within)
        else:
            a, mine = self._read(one)
            b, theirs = self._read(other)
            part = self._rng.choice(mine)
            same = [each for each in theirs if each.symbol == part.symbol]
            if not same:
                return []
            there = self._rng.choice(same)
            pair = exchange(a, slice(part.begin, part.end), b, slice(there.begin, there.end))
        return [found for genotype in pair if (found := self._individual(genotype))]

    def _mutated(self, one: Individual) -> Individual:
        if self._rng.random() >= REGROW:
            used = one.derivation.used
            return self._individual(mutate(one.genotype, self._rng, 1 / used, used)) or one
        genotype, mine = self._read(one)
        part = self._rng.choice(mine)
        grown = derive(self._grammar, random_genotype(self._rng, self._dials.codons), self._dials.longest, part.symbol)
        if grown is None:
            return one
        return self._individual(genotype[: part.begin] + grown.choices + genotype[part.end :]) or one

    def _read(self, one: Individual) -> tuple[Genotype, list[Span]]:
        """The integers as its derivation reads them, and what each symbol led to."""
        return unrolled(one.genotype, len(one.derivation.choices)), spans(self._grammar, one.derivation)
