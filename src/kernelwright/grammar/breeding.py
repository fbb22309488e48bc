"""Breeding: what a search over individuals must be told about genotypes of a grammar (``search/generations.py``).

    draw       a genotype that derives a program: grown to a depth of the ramp, or of random integers
    cross      what the same symbol led to in two parents changes places, or, more seldom, all behind one point
    mutate     single integers are changed, or a symbol leads to something else

Paper 001 leaves operators and numbers open; those here are ours: the usual crossover is structure-preserving (Harper and Blair
2005). A child that derives no program gives way to its parent.
"""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Literal, NamedTuple

from kernelwright.errors import Misuse
from kernelwright.grammar.bnf import Grammar
from kernelwright.grammar.derivation import CODONS as LIMIT
from kernelwright.grammar.derivation import Derivation, Layout, derive, extent, layout, text_of
from kernelwright.grammar.genotype import (
    CODONS,
    Genotype,
    crossover,
    mutate,
    random_genotype,
    unrolled,
)
from kernelwright.grammar.grow import grown_genotype
from kernelwright.grammar.problem import Problem
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.generations import Rates, below

FIRST_TRIES = 200
"""Draws of random genotypes for one place before the grammar is given up."""
ONE_POINT = 0.1
"""The share of crossovers at one point."""
REGROW = 0.5
"""The share of mutations that let a symbol lead to something else."""

Initial = Literal["ramped", "random"]
INITIALS: tuple[Initial, ...] = ("ramped", "random")
INITIAL = INITIALS[0]


@dataclass(frozen=True)
class Dials(Rates):
    """How a generation is made from the last, and how long genotypes and derivations are. Raises ``Misuse``."""

    codons: int = CODONS
    """Integers of a random genotype."""
    longest: int = CODONS
    """Choices that a child's derivation may take: without a limit, programs grow from generation to generation."""
    initial: Initial = INITIAL
    """How new programs are drawn: ``ramped``, grown to a depth drawn from a ramp (``grammar/grow.py``); ``random``, of random
    integers, as in paper 001, which suits grammars whose derivations mostly end by themselves."""

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
        if self.initial not in INITIALS:
            raise Misuse(
                f"the initial programs {self.initial!r} are neither ramped nor random", hint="initial='ramped'"
            )


def dials_of(problem: Problem) -> Dials:
    """The dials of a problem, where it sets them itself; else their defaults."""
    return Dials(**{each.name: problem.settings[each.name] for each in fields(Dials) if each.name in problem.settings})


def breeding_of(problem: Problem, dials: Dials | None = None) -> Breeding:
    """The operators for a problem. ``dials``: None for those among its own settings."""
    dials = dials or dials_of(problem)
    return Breeding(problem.language, dials.codons, dials.longest, dials.initial)


class Individual:
    """A genotype and what it derives; equal where the genotypes are."""

    __slots__ = ("derivation", "genotype", "laid_out", "text")

    def __init__(self, genotype: Genotype, derivation: Derivation) -> None:
        self.genotype, self.derivation, self.text = genotype, derivation, derivation.text
        self.laid_out: Layout | None = None
        """Of its derivation, once it was asked for."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Individual) and self.genotype == other.genotype

    def __hash__(self) -> int:
        return hash(self.genotype)


class _Part(NamedTuple):
    """What one symbol led to."""

    at: int
    """Its first choice."""
    begin: int
    """Of its text, in that of the whole."""
    codons: Genotype
    choices: tuple[int, ...]
    text: str
    layout: Layout
    """Of these choices, its letters counted as ``begin`` is."""


class Breeding:
    """The operators over individuals of one grammar (``search.generations.Operators``)."""

    def __init__(
        self, grammar: Grammar, codons: int = CODONS, longest: int = CODONS, initial: Initial = INITIAL
    ) -> None:
        """``codons``, ``longest``, ``initial``: see ``Dials``."""
        self._grammar = grammar
        self._codons = codons
        self._longest = longest
        self._initial = initial

    def draw(self, dice: random.Random) -> Individual:
        """A random program. Raises ``Misuse`` for a grammar whose derivations are too long or hardly end."""
        if self._initial == "ramped":
            genotype, choices = grown_genotype(self._grammar, dice, self._codons, self._longest)
            return Individual(genotype, Derivation(text_of(self._grammar, choices), choices, len(genotype)))
        for _ in range(FIRST_TRIES):
            if found := self._individual(random_genotype(dice, self._codons), LIMIT):
                return found
        raise Misuse(
            f"of {FIRST_TRIES} random genotypes none derives a program within {LIMIT} choices",
            hint="initial='ramped' grows them to a depth; or give symbols that lead to themselves more alternatives that do not",
        )

    def cross(self, dice: random.Random, one: Individual, other: Individual) -> list[Individual]:
        """Those of two children that derive a program."""
        if dice.random() < ONE_POINT:
            within = min(one.derivation.used, other.derivation.used)
            pair = crossover(one.genotype, other.genotype, dice, within)
            return [found for genotype in pair if (found := self._individual(genotype))]
        mine, theirs = self._layout(one), self._layout(other)
        at = below(dice, len(mine.symbols))
        wanted = mine.symbols[at]
        same = [n for n, symbol in enumerate(theirs.symbols) if symbol == wanted]
        if not same:
            return []
        a, b = self._part(one, at), self._part(other, same[below(dice, len(same))])
        return [child for child in (self._spliced(one, a, b), self._spliced(other, b, a)) if child]

    def mutate(self, dice: random.Random, one: Individual) -> Individual:
        """Another program; the same where what was drawn derives none."""
        if dice.random() >= REGROW:
            used = one.derivation.used
            return self._individual(mutate(one.genotype, dice, 1 / used, used)) or one
        mine = self._layout(one)
        at = below(dice, len(mine.symbols))
        symbol = mine.symbols[at]
        if self._initial == "ramped":
            _, choices = grown_genotype(self._grammar, dice, 1, self._longest, symbol)
            text = text_of(self._grammar, choices, symbol)
        else:
            anew = derive(self._grammar, random_genotype(dice, self._codons), self._longest, symbol)
            if anew is None:
                return one
            choices, text = anew.choices, anew.text
        new = _Part(0, 0, choices, choices, text, layout(self._grammar, choices, symbol))
        return self._spliced(one, self._part(one, at), new) or one

    def same(self, one: Individual) -> str:
        """Its program."""
        return one.text

    # -- inside ---------------------------------------------------------------------------------------------------

    def _individual(self, genotype: Genotype, longest: int = 0) -> Individual | None:
        derivation = derive(self._grammar, genotype, longest or self._longest)
        return Individual(genotype, derivation) if derivation else None

    def _layout(self, one: Individual) -> Layout:
        found = one.laid_out
        if found is None:
            found = one.laid_out = layout(self._grammar, one.derivation.choices)
        return found

    def _part(self, one: Individual, at: int) -> _Part:
        """What the symbol of a choice led to."""
        (symbols, letters), choices = self._layout(one), one.derivation.choices
        end, length = extent(self._grammar, choices, symbols, at)
        begin = letters[at]
        return _Part(
            at,
            begin,
            unrolled(one.genotype, len(choices))[at:end],
            choices[at:end],
            one.text[begin : begin + length],
            Layout(symbols[at:end], letters[at:end]),
        )

    def _spliced(self, one: Individual, old: _Part, new: _Part) -> Individual | None:
        """With ``new`` in the place of its part ``old``, which the same symbol led to; None where that takes too many choices. Nothing
        is derived anew: what stands before and behind reads as before."""
        (symbols, letters), choices, text = self._layout(one), one.derivation.choices, one.text
        at, end = old.at, old.at + len(old.choices)
        if len(choices) - len(old.choices) + len(new.choices) > self._longest:
            return None
        genotype = unrolled(one.genotype, len(choices))
        genotype = genotype[:at] + new.codons + genotype[end:]
        begin = old.begin
        text = text[:begin] + new.text + text[begin + len(old.text) :]
        child = Individual(genotype, Derivation(text, choices[:at] + new.choices + choices[end:], len(genotype)))
        moved, behind = begin - new.begin, len(new.text) - len(old.text)
        child.laid_out = Layout(
            symbols[:at] + new.layout.symbols + symbols[end:],
            letters[:at] + [n + moved for n in new.layout.letters] + [n + behind for n in letters[end:]],
        )
        return child
