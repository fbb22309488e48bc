"""How genomes are recombined: tuples of opaque genes in, tuples out. A gene never stands twice in one genome."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from typing import TypeVar

G = TypeVar("G", bound=Hashable)


def without_repeats(genes: Iterable[G]) -> tuple[G, ...]:
    """``(a, b, a, c)`` → ``(a, b, c)``."""
    return tuple(dict.fromkeys(genes))


def messy_crossover(rng: random.Random, a: tuple[G, ...], b: tuple[G, ...]) -> tuple[tuple[G, ...], tuple[G, ...]]:
    """One-point messy crossover (paper 000, section 3.5, Figure 5): one sequence of both, shuffled, cut at one place.

    ``(a, b, c)``, ``(d, e)`` → ``(e, a)``, ``(c, d, b)``. Neither child is empty when the parents have two genes between
    them. A gene that both parents have is in the sequence twice; a child that gets both keeps the first.
    """
    both = [*a, *b]
    rng.shuffle(both)
    cut = rng.randint(1, len(both) - 1) if len(both) > 1 else len(both)
    return without_repeats(both[:cut]), without_repeats(both[cut:])


def uniform_crossover(rng: random.Random, a: tuple[G, ...], b: tuple[G, ...]) -> tuple[G, ...]:
    """What both have, and each gene that one of them has with probability 1/2; in the order of ``a``, then of ``b``.

    ``(a, b, c)``, ``(c, d)`` → ``(b, c, d)``
    """
    in_a, in_b = set(a), set(b)
    return without_repeats(gene for gene in (*a, *b) if (gene in in_a and gene in in_b) or rng.random() < 0.5)
