"""Genotypes: lists of integers, and what is done to them. All are functions of their arguments and the dice alone."""

from __future__ import annotations

import random

Genotype = tuple[int, ...]

CODONS = 221
"""Integers of a genotype, as in the paper's experiments."""
CODON_BITS = 31


def random_genotype(rng: random.Random, codons: int = CODONS) -> Genotype:
    """Integers drawn evenly from all there are."""
    return tuple(rng.getrandbits(CODON_BITS) for _ in range(codons))


def crossover(a: Genotype, b: Genotype, rng: random.Random, within: int | None = None) -> tuple[Genotype, Genotype]:
    """One point: each child has one parent's integers up to it and the other's behind it. ``within``: the point lies among
    the first that many integers, those that decide something; children are as long as their parents crosswise."""
    shorter = min(len(a), len(b))
    point = rng.randint(1, max(1, min(within or shorter, shorter) - 1))
    return a[:point] + b[point:], b[:point] + a[point:]


def mutate(genotype: Genotype, rng: random.Random, rate: float, within: int | None = None) -> Genotype:
    """Each of the first ``within`` integers (None: all) becomes another with the probability ``rate``, at least one of them."""
    count = min(within or len(genotype), len(genotype))
    draw = rng.random
    at = [i for i in range(count) if draw() < rate] or [rng.randrange(count)]
    changed = list(genotype)
    for i in at:
        changed[i] = rng.getrandbits(CODON_BITS)
    return tuple(changed)


def unrolled(genotype: Genotype, count: int) -> Genotype:
    """The integers as a derivation of ``count`` choices reads them: repeated where it goes on from the first, and those that
    it does not come to behind them."""
    if count <= len(genotype):
        return genotype
    return (genotype * (count // len(genotype) + 1))[:count]


def exchange(a: Genotype, one: slice, b: Genotype, other: slice) -> tuple[Genotype, Genotype]:
    """Two stretches change places: where each is what one symbol led to, and that of the same rule, so do parts of programs."""
    return (
        a[: one.start] + b[other] + a[one.stop :],
        b[: other.start] + a[one] + b[other.stop :],
    )
