"""Generations of individuals that know no grammar: bit strings, of which the ones with fewer zeros are better."""

from __future__ import annotations

import random

import pytest

from kernelwright.errors import Misuse
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.search import Budget, Result
from kernelwright.search.generations import Generations, Rates
from kernelwright.search.strategies import DEFAULT, PRESETS, STRATEGIES, TREE_SEARCHES, listed

Bits = tuple[int, ...]
LENGTH = 24


class BitOperators:
    def draw(self, dice: random.Random) -> Bits:
        return tuple(dice.randrange(2) for _ in range(LENGTH))

    def cross(self, dice: random.Random, one: Bits, other: Bits) -> list[Bits]:
        cut = dice.randrange(LENGTH)
        return [one[:cut] + other[cut:], other[:cut] + one[cut:]]

    def mutate(self, dice: random.Random, one: Bits) -> Bits:
        place = dice.randrange(LENGTH)
        return (*one[:place], 1 - one[place], *one[place + 1 :])

    def same(self, one: Bits) -> Bits:
        return one


def result(one: Bits) -> Result[Bits]:
    """Those that begin with a zero are rejected."""
    return Result(one, (float(LENGTH - sum(one)),) if one[0] else None)


def searched(seed: int) -> tuple[Generations[Bits], list[list[Bits]]]:
    budget = Budget(generations=60)
    strategy = Generations(BitOperators(), seed=seed, budget=budget, rates=Rates(population=30))
    asked = []
    while batch := strategy.ask():
        asked.append(batch)
        strategy.tell([result(one) for one in batch])
    return strategy, asked


def test_it_finds_the_best_keeps_it_and_repeats_itself() -> None:
    strategy, asked = searched(1)
    best = strategy.progress.best
    assert len(asked) == 60 and best is not None and best.candidate == (1,) * LENGTH
    first = next(number for number, batch in enumerate(asked) if best.candidate in batch)
    assert all(best.candidate in batch for batch in asked[first:])
    assert all(len(set(batch)) == len(batch) == 30 for batch in asked)
    assert searched(1)[1] == asked != searched(2)[1]
    progress = strategy.progress
    assert (progress.generation, progress.evaluations, progress.population) == (60, 1800, 30)
    assert 0 < progress.accepted < 1800 and progress.front == (best,)


def test_what_is_rejected_by_all_leaves_no_best() -> None:
    strategy = Generations(BitOperators(), seed=1, rates=Rates(population=6))
    for _ in range(3):
        strategy.tell([Result(one, None) for one in strategy.ask()])
    assert strategy.progress.best is None and strategy.progress.accepted == 0


def test_the_names_of_strategies_are_those_of_the_table() -> None:
    assert DEFAULT == "default" and set(STRATEGIES) - set(PRESETS) - set(TREE_SEARCHES) == {"generations"}
    assert listed() == "default, or gevo: the search of the paper, or random: edits drawn at random, to compare with"
    for name in PRESETS:
        assert RunSettings(preset=name).preset == name
    with pytest.raises(Misuse, match="--preset generations is none of default, gevo, random") as raised:
        RunSettings(preset="generations")
    assert raised.value.hint == "default finds more, gevo is the paper's, random searches nothing"
