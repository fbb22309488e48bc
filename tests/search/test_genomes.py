"""Crossover: what goes in comes out."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search.crossover import messy_crossover, uniform_crossover, without_repeats

GENOMES = st.lists(st.integers(0, 12), max_size=8, unique=True).map(tuple)


@given(GENOMES, GENOMES, st.integers())
def test_messy_crossover_hands_out_every_gene(a: tuple[int, ...], b: tuple[int, ...], seed: int) -> None:
    one, two = messy_crossover(random.Random(seed), a, b)
    assert set(one) | set(two) == set(a) | set(b)
    assert len(set(one)) == len(one) and len(set(two)) == len(two)
    given_, made = Counter([*a, *b]), Counter([*one, *two])
    assert all(made[gene] <= given_[gene] for gene in made)
    if len(a) + len(b) > 1:
        assert one and two


def test_messy_crossover_shuffles_and_cuts_anywhere() -> None:
    rng = random.Random(0)
    made = [messy_crossover(rng, (1, 2, 3), (4, 5))[0] for _ in range(2000)]
    assert {len(child) for child in made} == {1, 2, 3, 4}
    assert {child[0] for child in made} == {1, 2, 3, 4, 5}
    assert len({child for child in made if len(child) == 2}) == 20  # every pair, in either order


@given(GENOMES, GENOMES, st.integers())
def test_uniform_crossover_keeps_what_both_have(a: tuple[int, ...], b: tuple[int, ...], seed: int) -> None:
    child = uniform_crossover(random.Random(seed), a, b)
    assert set(a) & set(b) <= set(child) <= set(a) | set(b)
    order = without_repeats((*a, *b))
    assert list(child) == sorted(child, key=order.index)


def test_uniform_crossover_takes_half_of_the_rest() -> None:
    rng = random.Random(0)
    sizes = [len(uniform_crossover(rng, (1, 2, 3), (3, 4, 5))) for _ in range(2000)]
    assert 2.9 < sum(sizes) / 2000 < 3.1
