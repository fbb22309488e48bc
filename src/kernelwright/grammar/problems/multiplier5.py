"""5-bit multiplier: find ten Boolean formulas for the bits of a product of two numbers of five bits (paper 001, listings 4, 5).

All 1,024 pairs of numbers are cases. Fitness is how many of the 10,240 bits of the answers are wrong. The authors' program
compares with a product of the lower four bits; here it is the product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<start> ::= o0=<expr>;o1=<expr>;o2=<expr>;o3=<expr>;o4=<expr>;o5=<expr>;o6=<expr>;o7=<expr>;o8=<expr>;o9=<expr>;
<expr>  ::= (<expr2> <bi-op> <expr2>) | <var> | (~ <var>)
<expr2> ::= (<expr2> <bi-op> <expr2>) | <var> | (~ <var>) | <var> | (~ <var>)
<var>   ::= a0 | a1 | a2 | a3 | a4 | b0 | b1 | b2 | b3 | b4
<bi-op> ::= & | #or#
"""

BITS = range(5)
PAIRS = np.arange(1 << 10, dtype=np.int32)
PRODUCTS = (PAIRS & 31) * (PAIRS >> 5)

before = " ".join(f"int a{n} = pair >> {n} & 1; int b{n} = pair >> {n + 5} & 1;" for n in BITS)
before += " int o0, o1, o2, o3, o4, o5, o6, o7, o8, o9;"
after = "product = " + " | ".join(f"(o{n} & 1) << {n}" for n in range(10)) + ";"

SET_BITS = np.array([bin(n).count("1") for n in range(1 << 10)], np.int32)


def wrong_bits(product: NDArray[np.int32]) -> float:
    """Fitness: wrong bits of all products together."""
    return float(SET_BITS[(product ^ PRODUCTS) & 1023].sum())


problem = Problem(
    name="multiplier5",
    grammar=GRAMMAR,
    cases={"pair": PAIRS},
    answer="int product",
    before=before,
    after=after,
    fitness=wrong_bits,
    perfect=0.0,
    settings={
        "population": 200,
        "generations": 100,
        "tournament": 7,
        "crossover": 0.5,
        "longest": 400,
        "target": 3100.0,
        "initial": "random",
    },
)
