"""A language with every construct of our part of C, for programs at random that must mean the same on every back end."""

from __future__ import annotations

import numpy as np

from kernelwright.grammar import Problem

GRAMMAR = """
<program> ::= <step><step><step> | <step><step> | { int t = <int>; n = t ^ n; }<step>
<step>    ::= <assign> | <assign> | <assign> | if (<truth>) { <assign><step> } | if (<truth>) <assign> else { <step> }
            | for (int j = 0; j #lesser# <small>; j++) { <assign> } | { int k = <small>; while (k #greater# 0) { <assign> k--; } }
            | for (i = 0; i #lesser# m; ++i) { <assign><assign> }
<assign>  ::= n = <int>; | n = <int>; | n <op>= <int>; | u = <word>; | u += <int>; | f = <real>; | f *= <real>; | d = <real>;
            | n++; | u--;
<op>      ::= + | - | * | & | #or# | ^ | #lesser##lesser# | #greater##greater#
<int>     ::= n | i | m | <small> | -(<int>) | ~<small> | (<int> + <int>) | (<int> - <int>) | (<int> * <int>)
            | <int> / <divisor> | <int> % <divisor> | (<int> & <int>) | (<int> #lesser##lesser# <small>) | (<int> #greater##greater# u)
            | row[<small>] | row[(<int> & 7)] | row[n] | min(<int>, <int>) | max(n, <int>) | abs(<small> - n) | (int)(<real>)
            | (<truth> ? <int> : <int>) | (<truth>)
<divisor> ::= m | 3 | -2 | (n #or# 1) | n | u
<word>    ::= u | 7u | (unsigned)(<int>) | u / 3u | u % 5u | (u #greater##greater# 1) | 0xFFFFFFFF
<real>    ::= f | d | x | <small> | 1.5f | 0.25 | (<real> + <real>) | <real> - <real> | <real> * <real> | <real> / <real>
            | sqrtf(fabsf(<real>)) | fminf(<real>, f) | fmax(d, (double)(<real>)) | floorf(<real>) | ceil(d) | -(<real>) | <int>
            | (<truth> ? <real> : x) | fabs((double)(<real>)) | pdiv(<real>, <real>) | pdivf(<real>, x) | psqrt(<real>) | pdiv(d, u)
<truth>   ::= <int> #lesser# <int> | <int> == <int> | <int> != <small> | u #greater#= <word> | f #lesser#= <real> | d #greater# f
            | !(<truth>) | (<truth> && <truth>) | (<truth> #or##or# <truth>) | (n #lesser# 8 && row[n] #greater# 0) | m
            | true | 1.5f
<small>   ::= 0 | 1 | 2 | 3 | 5 | 7 | 010
"""

CASES = 37


def problem() -> Problem:
    random = np.random.default_rng(5)
    return Problem(
        grammar=GRAMMAR,
        cases={
            "m": random.integers(1, 9, CASES, dtype=np.int32),
            "x": random.normal(size=CASES).astype(np.float32),
            "row": random.integers(-5, 6, (CASES, 8), dtype=np.int32),
        },
        answer="double result",
        before="int i = 1, n = m - 3; unsigned u = 4000000000u; float f = x; double d = 0.5; if (n < 0) { n = n + 1; }",
        after="result = n * 3 + i + u % 1000u + f * 0.5 + d;",
        fitness=lambda result: float(result.sum()),
    )
