"""Vladislavleva-4, called UBall5D: find 10 / (5 + sum of (x_i - 3)^2) over five inputs (Vladislavleva, Smits and den Hertog 2009).

1,024 points to breed on lie in 0.05 to 6.05; 5,000 that no program is chosen by lie in -0.25 to 6.35, so that a formula must hold
outside of where it was found. Both are drawn uniformly, from a seed of ours. The original also has squares and powers by a constant as
operators; here a program writes a square as a product, and its numbers have two digits behind the point. Quotients are ``pdiv``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<e> ::= (<e> + <e>) | (<e> - <e>) | (<e> * <e>) | pdiv(<e>, <e>) | <x> | <x> | <c>.<c><c>f
<x> ::= x1 | x2 | x3 | x4 | x5
<c> ::= 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
"""

TRAINING, HELD_OUT = 1024, 5000


def points(count: int, least: float, most: float, seed: int) -> NDArray[np.float32]:
    """``[input, point]``, uniform."""
    return np.random.default_rng(seed).uniform(least, most, (5, count)).astype(np.float32)


def ball(x: NDArray[np.float32]) -> NDArray[np.float64]:
    """What is to be found, of points as ``points`` gives them."""
    found: NDArray[np.float64] = 10 / (5 + ((x.astype(np.float64) - 3) ** 2).sum(axis=0))
    return found


def inputs(x: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Rows of ``x`` (five by cases) by the names that programs know them by."""
    return {f"x{n}": row for n, row in enumerate(x, 1)}


def root_mean_square_error(y: NDArray[np.float32], wanted: NDArray[np.float64]) -> float:
    """The root of the mean squared error; NaN where an answer is none."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean((y.astype(np.float64) - wanted) ** 2)))


X, FURTHER = points(TRAINING, 0.05, 6.05, seed=4), points(HELD_OUT, -0.25, 6.35, seed=5)
WANTED, WANTED_FURTHER = ball(X), ball(FURTHER)


def fitness(y: NDArray[np.float32]) -> float:
    """On the points that programs are chosen by."""
    return root_mean_square_error(y, WANTED)


def held_out_fitness(y: NDArray[np.float32]) -> float:
    """On points that no program is chosen by."""
    return root_mean_square_error(y, WANTED_FURTHER)


problem = Problem(
    name="vladislavleva4",
    grammar=GRAMMAR,
    cases=inputs(X),
    answer="float y",
    individual="y = {};",
    fitness=fitness,
    held_out=inputs(FURTHER),
    held_out_fitness=held_out_fitness,
    perfect=0.0,
    settings={"population": 500, "generations": 50, "target": 0.1},
)
