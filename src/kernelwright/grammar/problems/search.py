"""Search: find a program that looks for a number in a list and says where it is, or -1 (paper 001, listings 1 and 2).

``%`` gives negative remainders for negative numbers. In the authors' program those read the list of the case before, and of the
first case whatever lies before all lists. Here each list has zeros in front of it, so that a program's answer depends on its own
case alone, and reads nothing that is not there. The number is in its list once or not at all, so that there is one right answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelwright.grammar import Problem

GRAMMAR = """
<expr>         ::= <expr2> <bi-op> <expr2> | <expr2>
<expr2>        ::= <int> | <var-read> | <var-indexed>
<var-read>     ::= tmp | i | OUTPUT | SEARCH
<var-indexed>  ::= INPUT[20 + <var-read> % LENINPUT]
<var-write>    ::= tmp | OUTPUT
<bi-op>        ::= + | -
<int>          ::= 1 | 2 | (-1)
<statement>    ::= <assignment> | <if> | <loop>
<statement2>   ::= <assignment> | <if2>
<statement3>   ::= <assignment>
<loop>         ::= for(i=0;i #lesser# LENINPUT;i++){<c-block2>}
<if>           ::= if (<cond-expr>) {<c-block2>}
<if2>          ::= if (<cond-expr>) {<c-block3>}
<cond-expr>    ::= <expr> <comp-op> <expr>
<comp-op>      ::= #lesser# | #greater# | == | !=
<assignment>   ::= <var-write> = <expr>;
<c-block>      ::= <statements>
<c-block2>     ::= <statements2>
<c-block3>     ::= <statements3>
<statements>   ::= <statement>#nl#
                 | <statement>#nl#<statement>#nl#
                 | <statement>#nl#<statement>#nl#<statement>#nl#
<statements2>  ::= <statement2>#nl#
                 | <statement2>#nl#<statement2>#nl#
                 | <statement2>#nl#<statement2>#nl#<statement2>#nl#
<statements3>  ::= <statement3>#nl#
                 | <statement3>#nl#<statement3>#nl#
                 | <statement3>#nl#<statement3>#nl#<statement3>#nl#
"""

CASES, LONGEST, LARGEST = 32, 20, 50
IN_FRONT = 20


def lists(seed: int = 7) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Lists with zeros in front, their lengths, what to look for in them, and where it is: in every other list."""
    random = np.random.default_rng(seed)
    rows = np.zeros((CASES, IN_FRONT + LONGEST), np.int32)
    lengths, wanted, places = (np.zeros(CASES, np.int32) for _ in range(3))
    for case in range(CASES):
        lengths[case] = n = random.integers(3, LONGEST + 1)
        values = random.integers(0, LARGEST + 1, n)
        wanted[case] = random.choice(np.setdiff1d(np.arange(LARGEST + 1), values))
        places[case] = -1
        if case % 2:
            places[case] = random.integers(n)
            values[places[case]] = wanted[case]
        rows[case, IN_FRONT : IN_FRONT + n] = values
    return rows, lengths, wanted, places


INPUT, LENINPUT, SEARCH, PLACES = lists()


def right_answers(output: NDArray[np.int32]) -> float:
    """Fitness: lists for which the place is right."""
    return float(np.sum(output == PLACES))


problem = Problem(
    name="search",
    grammar=GRAMMAR,
    start="c-block",
    cases={"INPUT": INPUT, "LENINPUT": LENINPUT, "SEARCH": SEARCH},
    answer="int OUTPUT",
    before="int i = 0; int tmp = 0; OUTPUT = -1;",
    fitness=right_answers,
    goal="most",
    perfect=CASES,
    settings={"population": 500, "generations": 30, "initial": "random"},
)
