"""A problem in Python: a formula for the longest side of a right triangle, bred from square roots, sums and products.

    kw breed examples/hypotenuse.py
"""

import numpy as np

from kernelwright.grammar import Problem

random = np.random.default_rng(1)
a, b = random.uniform(1, 10, (2, 40)).astype(np.float32)

problem = Problem(
    grammar="""
        <sum>    ::= <number> + <number> | <number> - <number> | <number> * <number> | sqrtf(fabsf(<number>))
        <number> ::= a | b | a | b | (<sum>) | (<sum>) | 0.<digit>f
        <digit>  ::= 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
    """,
    cases={"a": a, "b": b},
    answer="float side",
    individual="side = {};",
    fitness=lambda side: float(np.abs(side - np.hypot(a, b)).mean()),
    perfect=1e-5,
)
