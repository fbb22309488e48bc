"""Scalar arithmetic of one instruction: a small tree with its C text, its NumPy meaning and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """A row of the table: how it is written in C, what it means, and how many special functions it needs at least."""

    name: str
    c: str
    meaning: Callable[..., Any]
    special: int = 0


OPERATIONS = {
    row.name: row
    for row in (
        Operation("add", "({0} + {1})", np.add),
        Operation("sub", "({0} - {1})", np.subtract),
        Operation("mul", "({0} * {1})", np.multiply),
        Operation("div", "({0} / {1})", np.divide, special=1),
        Operation("max", "fmaxf({0}, {1})", np.maximum),
        Operation("exp", "expf({0})", np.exp, special=1),
        Operation("tanh", "tanhf({0})", np.tanh),  # near zero it is a polynomial
    )
}


@dataclass(frozen=True)
class Expression:
    """``operation`` with ``arguments``; a leaf is the value of an instruction, a scalar argument or a number.

    Python's operators build them: ``alpha * x + y``.
    """

    kind: str
    """An operation's name, or ``value``, ``scalar``, ``number``."""
    arguments: tuple[Expression, ...] = ()
    name: str = ""
    number: float = 0.0

    def __add__(self, other: Expression | float) -> Expression:
        return Expression("add", (self, as_expression(other)))

    def __radd__(self, other: float) -> Expression:
        return Expression("add", (as_expression(other), self))

    def __sub__(self, other: Expression | float) -> Expression:
        return Expression("sub", (self, as_expression(other)))

    def __rsub__(self, other: float) -> Expression:
        return Expression("sub", (as_expression(other), self))

    def __mul__(self, other: Expression | float) -> Expression:
        return Expression("mul", (self, as_expression(other)))

    def __rmul__(self, other: float) -> Expression:
        return Expression("mul", (as_expression(other), self))

    def __truediv__(self, other: Expression | float) -> Expression:
        return Expression("div", (self, as_expression(other)))

    def __rtruediv__(self, other: float) -> Expression:
        return Expression("div", (as_expression(other), self))

    def _asked(self, other: object = None) -> NoReturn:
        raise Misuse(
            "a value of the computation is asked for while it is declared: it is known once the kernel runs",
            hint="loops and conditions cannot depend on data; maximum() chooses, and any other kernel is for `kw evolve`",
        )

    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __float__ = _asked

    def walk(self) -> Iterator[Expression]:
        """It and all expressions in it, each before its arguments."""
        yield self
        for argument in self.arguments:
            yield from argument.walk()

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the instructions whose values it reads, each once, in reading order."""
        return tuple(dict.fromkeys(e.name for e in self.walk() if e.kind == "value"))

    @property
    def scalars(self) -> tuple[str, ...]:
        """Names of the scalar arguments that it reads, each once, in reading order."""
        return tuple(dict.fromkeys(e.name for e in self.walk() if e.kind == "scalar"))

    def c(self, values: Mapping[str, str]) -> str:
        """As C: ``values`` has the text of each operand."""
        match self.kind:
            case "value":
                return values[self.name]
            case "scalar":
                return self.name
            case "number":
                return f"{self.number!r}f"
        return OPERATIONS[self.kind].c.format(*(a.c(values) for a in self.arguments))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """With NumPy, in whatever precision ``values`` (of operands and scalars) have."""
        match self.kind:
            case "value" | "scalar":
                return values[self.name]
            case "number":
                return np.float32(self.number)
        return OPERATIONS[self.kind].meaning(*(a.evaluate(values) for a in self.arguments))


def maximum(a: Expression, b: Expression | float) -> Expression:
    """The larger of two values."""
    return Expression("max", (a, as_expression(b)))


def exp(a: Expression) -> Expression:
    """The exponential of a value."""
    return Expression("exp", (a,))


def tanh(a: Expression) -> Expression:
    """The hyperbolic tangent of a value."""
    return Expression("tanh", (a,))


def as_expression(thing: Expression | float) -> Expression:
    """A value of the computation, or a number. Raises ``Misuse`` for anything else."""
    if isinstance(thing, Expression):
        return thing
    if isinstance(thing, bool) or not isinstance(thing, int | float):
        raise Misuse(f"{thing!r} is neither a value of the computation nor a number")
    return Expression("number", number=float(thing))
