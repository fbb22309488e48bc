"""An expression simplified by SymPy, in a process that may be stopped at any moment: ``breeding/simplified.py`` starts it.

Reads one JSON value, an expression as nested lists (``["+", "x", ["pdiv", "y", "3.53"]]``: names, numbers as text, operations), and
prints formulas as Python writes them, a line each, as they come: later ones take longer to find.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import sympy

DIGITS = 6
"""Of the numbers in a formula, which programs have in single precision."""
SMALL = 12
"""Fractions of whole numbers up to this one stay fractions."""


class pdiv(sympy.Function):  # type: ignore[misc]
    """a / b, and 1 where b is 0: a quotient only where b is never 0."""

    is_real = True

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """1 for a divisor that is 0 or equals ``a``, the quotient for one that is never 0; None, which leaves it unevaluated, else."""
        if b.is_zero or a == b:
            return sympy.Integer(1)
        return a / b if b.is_nonzero else None


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "negate": lambda a: -a,
    "pdiv": pdiv,
    "pow": sympy.Pow,
    "min": sympy.Min,
    "max": sympy.Max,
    "fmin": sympy.Min,
    "fmax": sympy.Max,
    "abs": sympy.Abs,
    "fabs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    **{name: getattr(sympy, name) for name in ("sin", "cos", "tan", "tanh", "exp", "log", "sqrt")},
}


def built(tree: Any) -> Any:
    """A tree of lists as SymPy has it. Variables are real numbers."""
    if isinstance(tree, list):
        return OPERATIONS[tree[0]](*map(built, tree[1:]))
    return sympy.Symbol(tree, real=True) if tree[0].isalpha() or tree[0] == "_" else sympy.Rational(tree)


def formulas(expression: Any) -> Iterator[Any]:
    """Forms of it, the quick ones first."""
    yield expression
    for step in (sympy.cancel, sympy.factor, sympy.simplify):
        try:
            yield step(expression)
        except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError, sympy.PolynomialError):
            continue  # beyond that step


def rounded(expression: Any) -> Any:
    """With numbers as a person writes them."""
    long = [
        each for each in expression.atoms(sympy.Rational) if max(abs(each.p), each.q) > SMALL and not each.is_integer
    ]
    return expression.xreplace({each: sympy.Float(each, DIGITS) for each in long})


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    for each in formulas(built(json.load(sys.stdin))):
        print(sympy.count_ops(each), sympy.sstr(rounded(each)), flush=True)
