"""Programs as trees, with every conversion of C written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from kernelwright.lazy_dataclasses import dataclass

Type = Literal["bool", "int", "unsigned", "float", "double"]

RANK: Mapping[str, int] = {"bool": 0, "int": 1, "unsigned": 2, "float": 3, "double": 4}
"""Operands of different types become the higher one; ``bool``, which comparisons give, becomes ``int`` first."""
REAL = frozenset({"float", "double"})

UNARY_MATH: tuple[str, ...] = (
    "sin", "cos", "tan", "tanh", "exp", "log", "sqrt", "fabs", "floor", "ceil",
)  # fmt: skip
BINARY_MATH: tuple[str, ...] = ("pow", "fmin", "fmax")
MATH: Mapping[str, int] = dict.fromkeys(UNARY_MATH, 1) | dict.fromkeys(BINARY_MATH, 2)
"""Functions of real numbers, and how many they take: ``sin`` as it is, and as ``sinf`` for single precision."""

PROTECTED: Mapping[str, int] = {"pdiv": 2, "plog": 1, "psqrt": 1}
"""Functions that have a result for every number, and how many they take, typed as those of ``MATH``: ``pdiv(a, b)`` is a / b, and 1
where b is 0 (Koza 1992); ``plog(a)`` is log(1 + |a|), ``psqrt(a)`` sqrt(|a|)."""


class Expression(NamedTuple):
    """``op``: constant (its value), variable (its name), element (an array's name, the index), convert, negate, complement,
    not, an operator of C, select (condition, one, other), min, max, abs, pdiv, or one of ``MATH``."""

    op: str
    type: Type
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """To a variable of the expression's type."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While:
    """A ``for`` is its first part, and this."""

    condition: Expression
    body: tuple[Statement, ...]


Statement = Assign | If | While


@dataclass(frozen=True)
class Array:
    """``width`` elements for each case. An index outside of them is a mistake of the program."""

    type: Type
    width: int


@dataclass(frozen=True)
class Scope:
    """What a program finds: variables by name, some of which it may not assign, and arrays that it may read."""

    variables: Mapping[str, Type]
    arrays: Mapping[str, Array]
    fixed: frozenset[str] = frozenset()


def assigned(statements: tuple[Statement, ...]) -> Iterator[str]:
    """The names of the variables that statements assign, repeatedly where they do."""
    for each in statements:
        if isinstance(each, Assign):
            yield each.name
        elif isinstance(each, If):
            yield from assigned(each.then)
            yield from assigned(each.otherwise)
        else:
            yield from assigned(each.body)
