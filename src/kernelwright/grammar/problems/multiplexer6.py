"""6-multiplexer: find a Boolean formula that gives the one of four data bits that two address bits choose (Koza 1992).

All 64 settings of the six bits are packed, 32 into a word, so that a program computes 32 of them at a time: two cases, each a word for
every bit. Fitness is how many of the 64 are wrong. Koza also has IF; a grammar cannot write one condition in two places, as IF of
words needs it, so that programs are made of AND, OR and NOT.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<e> ::= (<e> & <e>) | (<e> #or# <e>) | (~ <e>) | <v> | <v>
<v> ::= a0 | a1 | d0 | d1 | d2 | d3
"""

BITS = ("a0", "a1", "d0", "d1", "d2", "d3")
SETTINGS = np.arange(64)
BIT = {name: SETTINGS >> n & 1 for n, name in enumerate(BITS)}
CHOSEN = np.choose(BIT["a0"] + 2 * BIT["a1"], [BIT[f"d{n}"] for n in range(4)])


def packed(bits: NDArray[np.int64]) -> NDArray[np.uint32]:
    """64 bits as two words, the first bit lowest."""
    return np.packbits(bits.astype(np.uint8), bitorder="little").view("<u4").astype(np.uint32)


WANTED = packed(CHOSEN)


def wrong_settings(out: NDArray[np.uint32]) -> float:
    """Fitness: settings of the six bits for which the answer is wrong, of 64."""
    return float(sum(int(word).bit_count() for word in out ^ WANTED))


problem = Problem(
    name="multiplexer6",
    grammar=GRAMMAR,
    cases={name: packed(bits) for name, bits in BIT.items()},
    answer="unsigned out",
    individual="out = {};",
    fitness=wrong_settings,
    perfect=0.0,
    settings={"population": 500, "generations": 100},
)
