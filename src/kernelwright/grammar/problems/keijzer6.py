"""Keijzer-6: find a formula for the sum of 1/n from 1 to x (Keijzer 2003; paper 001, listing 3).

As in C, ``*`` binds more than ``+`` whatever the derivation was, and numbers with a point are double precision. The paper does
not show how ``x`` is declared; the authors' program makes it a whole number, so that ``x / x * x`` is cut off, and begins at 0
where the sums begin at 1. Here it is a real number from 1 on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<e>  ::= <e2> + <e2> | <e2> - <e2> | <e2> * <e2> | <e2> / <e2>
       | sqrtf(fabsf(<e2>)) | sinf(<e2>) | tanhf(<e2>) | expf(<e2>) | logf(fabsf(<e2>)+1)
       | x | x | x | x
       | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c>
<e2> ::= <e3> + <e3> | <e3> - <e3> | <e3> * <e3> | <e3> / <e3>
       | sqrtf(fabsf(<e3>)) | sinf(<e3>) | tanhf(<e3>) | expf(<e3>) | logf(fabsf(<e3>)+1)
       | x | x | x | x | x | x
       | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c>
<e3> ::= <e3> + <e3> | <e3> - <e3> | <e3> * <e3> | <e3> / <e3>
       | sqrtf(fabsf(<e3>)) | sinf(<e3>) | tanhf(<e3>) | expf(<e3>) | logf(fabsf(<e3>)+1)
       | x | x | x | x | x | x | x | x
       | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c>
       | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c> | <c><c>.<c><c>
<c>  ::= 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
"""

X = np.arange(1, 65, dtype=np.float32)
SUMS = np.cumsum(1.0 / np.arange(1, 65))


def root_mean_square_error(y: NDArray[np.float32]) -> float:
    """Fitness: the root of the mean squared error over all cases; NaN where an answer is none."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean((y.astype(np.float64) - SUMS) ** 2)))


problem = Problem(
    name="keijzer6",
    grammar=GRAMMAR,
    cases={"x": X},
    answer="float y",
    individual="y = {};",
    fitness=root_mean_square_error,
    perfect=0.0,
    settings={"population": 300, "generations": 50, "target": 0.01, "initial": "random"},
)
