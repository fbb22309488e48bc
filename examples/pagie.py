"""A formula from points, in a grammar that leads to itself: Pagie-1, 1 / (1 + x^-4) + 1 / (1 + y^-4) (Pagie and Hogeweg 1997).

kw breed examples/pagie.py --seed 1 --generations 20

pdiv(a, b) is a / b, and 1 where b is 0, so that no program divides by zero.
"""

import numpy as np

from kernelwright.grammar import Problem

x, y = (each.ravel().astype(np.float32) for each in np.meshgrid(*[np.arange(-5, 5.2, 0.4)] * 2))
wanted = 1 / (1 + x.astype(float) ** -4) + 1 / (1 + y.astype(float) ** -4)


def root_mean_square_error(z):
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean((z - wanted) ** 2)))


problem = Problem(
    grammar="""
        <e> ::= <e> + <e> | <e> - <e> | <e> * <e> | pdiv(<e>, <e>) | (<e>) | <v>
        <v> ::= x | y | 1.0f
    """,
    cases={"x": x, "y": y},
    answer="float z",
    individual="z = {};",
    fitness=root_mean_square_error,
    perfect=0,
    settings={"population": 600, "target": 0.01},
)
