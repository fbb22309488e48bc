"""Pagie-1: find 1 / (1 + x^-4) + 1 / (1 + y^-4) from 676 points (Pagie and Hogeweg 1997).

The points are a grid, -5 to 5 in steps of 0.4 both ways, and the operators the original's: sums, differences, products and quotients
of x, y and 1. A quotient by zero is 1 (``pdiv``). Others count the points that are hit closely, or add up absolute errors; here it is
the root of the mean square error, in single precision. There is no point with a zero, so that the formula is defined everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<e> ::= (<e> + <e>) | (<e> - <e>) | (<e> * <e>) | pdiv(<e>, <e>) | <v> | <v>
<v> ::= x | y | 1.0f
"""

AXIS = np.arange(26) * 0.4 - 5
X, Y = (each.ravel() for each in np.meshgrid(AXIS, AXIS))
WANTED = 1 / (1 + X**-4) + 1 / (1 + Y**-4)


def root_mean_square_error(z: NDArray[np.float32]) -> float:
    """Fitness: the root of the mean squared error over 676 points; NaN where an answer is none."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean((z.astype(np.float64) - WANTED) ** 2)))


problem = Problem(
    name="pagie1",
    grammar=GRAMMAR,
    cases={"x": X.astype(np.float32), "y": Y.astype(np.float32)},
    answer="float z",
    individual="z = {};",
    fitness=root_mean_square_error,
    perfect=0.0,
    settings={"population": 500, "generations": 50, "tournament": 7, "mutation": 0.3, "longest": 500, "target": 0.1},
)
