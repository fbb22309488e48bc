"""A problem in Python: the median of three numbers, bred from minimum and maximum.

kw breed examples/median.py
"""

import numpy as np

from kernelwright.grammar import Problem

cases = np.random.default_rng(1).integers(0, 100, (64, 3), dtype=np.int32)

problem = Problem(
    grammar="""
        <value> ::= min(<value>, <value>) | max(<value>, <value>) | a | b | c
    """,
    cases={"a": cases[:, 0], "b": cases[:, 1], "c": cases[:, 2]},
    answer="int median",
    individual="median = {};",
    fitness=lambda median: float(np.abs(median - np.median(cases, axis=1)).sum()),
    perfect=0,
)
