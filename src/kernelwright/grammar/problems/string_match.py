"""String match: put together the string "hello_world", letter by letter; well known from GEVA and PonyGE2 (O'Neill and others 2008).

A program is a row of statements, one for each letter that it appends. A case is a place in the target, at which its letter is asked for
(0 where the program's string has ended), and one case more asks for the length. Fitness is how many characters are wrong: those that
differ from the target's, and those too many or too few. PonyGE2 gives a part of a point for a letter close by in the alphabet;
here a letter is right or wrong.
"""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

TARGET = "hello_world"
LETTERS = f"{ascii_lowercase}_"

GRAMMAR = f"""
<string> ::= <append>#nl# | <append>#nl#<string>
<append> ::= if (length == at) letter = <c>; length += 1;
<c>      ::= {" | ".join(LETTERS)}
"""

LENGTH = -1
"""Of a case that asks for the length."""
PLACES = np.array([*range(len(TARGET)), LENGTH], np.int32)
CODES = np.array([ord(each) for each in TARGET], np.int32)

before = " ".join(f"int {each} = {ord(each)};" for each in LETTERS) + " int length = 0;"
after = f"if (at == {LENGTH}) letter = length;"


def wrong_characters(letter: NDArray[np.int32]) -> float:
    """Fitness: characters that differ, and how far the length is off."""
    length = int(letter[-1])
    common = min(length, len(TARGET))
    return float(np.sum(letter[:common] != CODES[:common])) + abs(length - len(TARGET))


problem = Problem(
    name="string_match",
    grammar=GRAMMAR,
    cases={"at": PLACES},
    answer="int letter",
    before=before,
    after=after,
    fitness=wrong_characters,
    perfect=0.0,
    settings={"population": 200, "generations": 100, "tournament": 7},
)
