"""Adaptive pursuit, and what is learnt about genes."""

from __future__ import annotations

import random

import pytest

from kernelwright.search import Hooks, Result
from kernelwright.search.credit import LEAST, Credit
from kernelwright.search.experience import Experience

Gene = tuple[str, int]


def test_what_pays_is_pursued_and_nothing_is_given_up() -> None:
    rng, credit = random.Random(0), Credit()
    pays = {"a": 0.02, "b": 0.3, "c": 0.02, "d": 0.0}
    for _ in range(2000):
        kind = credit.choose(rng, [(kind, kind) for kind in pays])
        credit.reward(kind, float(rng.random() < pays[kind]))
    weights = credit.weights
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["b"] > 0.5 and min(weights.values()) >= 0.99 * LEAST / 4


def test_it_changes_its_mind() -> None:
    credit = Credit()
    for kind, rewards in (("a", 1.0), ("b", 0.0), ("a", 0.0), ("b", 1.0)):
        for _ in range(300):
            credit.reward(kind, rewards)
    assert credit.weights["b"] > credit.weights["a"]


def test_a_newcomer_gets_an_even_share() -> None:
    credit = Credit()
    credit.reward("a", 1.0)
    assert credit.weights == {"a": 1.0}
    credit.choose(random.Random(0), [("b", 0), ("a", 0)])
    assert credit.weights == {"a": 0.5, "b": 0.5}


def hooks() -> Hooks[Gene]:
    return Hooks(draw=lambda rng, genome: (rng.choice("ab"), rng.randrange(20)), kind=lambda gene: gene[0])


ORIGINAL: Result[tuple[Gene, ...]] = Result((), (1.0,))


def told(*genes: Gene, time: float | None) -> Result[tuple[Gene, ...]]:
    return Result(genes, None if time is None else (time,))


def test_good_genes_are_those_that_gained_more_than_a_tie() -> None:
    experience = Experience(hooks(), tie=0.005)
    for gene, time in ((("a", 1), 0.9), (("a", 2), 0.997), (("a", 3), 1.2), (("a", 4), None), (("a", 1), 0.95)):
        experience.learn(gene, told(gene, time=time), ORIGINAL, drawn=True)
    assert experience.good == {("a", 1): pytest.approx(0.1)}


def test_only_drawn_genes_that_are_new_earn_credit() -> None:
    experience = Experience(hooks(), tie=0.005)
    experience.learn(("a", 1), told(("a", 1), time=0.5), ORIGINAL, drawn=False)
    assert experience.credit.weights == {}
    experience.learn(("a", 2), told(("a", 2), time=0.5), ORIGINAL, drawn=True)
    experience.learn(("b", 1), told(("b", 1), time=None), ORIGINAL, drawn=True)
    weights = experience.credit.weights
    for _ in range(50):
        experience.learn(("a", 2), told(("a", 2), time=0.5), ORIGINAL, drawn=True)
    assert experience.credit.weights == weights and weights["a"] > weights["b"]


def test_new_genes_are_preferred_and_hopeless_ones_hardly_drawn() -> None:
    rng, experience = random.Random(0), Experience(hooks(), tie=0.005)
    for n in range(20):
        experience.learn(("a", n), told(("a", n), time=None if n < 10 else 1.0), ORIGINAL, drawn=True)
    drawn = [experience.draw(rng, ()) for _ in range(2000)]
    share = {
        n: sum(gene is not None and gene[0] == "a" and gene[1] // 10 == n for gene in drawn) / 2000 for n in (0, 1)
    }
    assert 0 < share[0] < 0.03 and share[0] < share[1] < 0.3
    # A rejection on top of other genes says nothing about the gene alone.
    experience.learn(("b", 1), told(("a", 11), ("b", 1), time=None), told(("a", 11), time=1.0), drawn=True)
    assert sum(experience.draw(rng, ()) == ("b", 1) for _ in range(2000)) > 10


def test_a_genome_is_not_given_what_it_has() -> None:
    rng, experience = random.Random(0), Experience(hooks(), tie=0.005)
    everything = tuple((kind, n) for kind in "ab" for n in range(20))
    assert experience.draw(rng, everything) is None
    assert {experience.draw(rng, everything[1:]) for _ in range(300)} == {None, everything[0]}
