"""What the tests of breeding share: random programs of a problem."""

from __future__ import annotations

import random

from kernelwright.grammar import Problem, derive
from kernelwright.grammar.genotype import random_genotype


def programs(problem: Problem, count: int, seed: int = 1, longest: int = 4000) -> list[str]:
    """The texts of random programs of at most ``longest`` choices."""
    rng = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        derivation = derive(problem.language, random_genotype(rng), longest)
        if derivation:
            found.append(derivation.text)
    return found
