"""Arithmetic on a variant's parameters: ``ceil(4096, block_size_x * tile_size_x)``, ``use_shmem == 1``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from kernelwright.errors import Misuse

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {"ceil": lambda a, b: -(-a // b), "min": min, "max": max}
"""``ceil(a, b)``: the quotient, rounded up."""


class Expression:
    """``place`` says where it stands, for messages. Raises ``Misuse`` for what is no arithmetic."""

    def __init__(self, text: str | int, place: str) -> None:
        self.text = str(text)
        self.place = place
        try:
            self._tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise Misuse(f"{place}: {self.text!r} is no expression ({error.msg})", hint=HINT) from None

    @property
    def names(self) -> set[str]:
        """The parameters it mentions."""
        return {n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name)} - FUNCTIONS.keys()

    def value(self, parameters: Mapping[str, Any]) -> Any:
        """What it comes to with these parameters. Raises ``Misuse`` for one without a value."""
        try:
            return self._value(self._tree, parameters)
        except (TypeError, ZeroDivisionError, ValueError) as error:
            raise Misuse(f"{self.place}: {self.text!r} has no value ({error})", hint=HINT) from None

    def count(self, parameters: Mapping[str, Any]) -> int:
        """A whole number of at least 1. Raises ``Misuse`` for anything else."""
        found = self.value(parameters)
        if isinstance(found, bool) or not isinstance(found, int | float) or found != int(found) or found < 1:
            raise Misuse(f"{self.place}: {self.text!r} is {found!r}, which is no number of things", hint=HINT)
        return int(found)

    def _value(self, node: ast.AST, parameters: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value=int() | float() | str() as value):
                return value
            case ast.Name(id=name):
                if name not in parameters:
                    raise Misuse(
                        f"{self.place} names {name!r}, which the cache's variants do not have",
                        hint=f"they have {', '.join(parameters)}",
                    )
                return parameters[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(left, parameters), self._value(right, parameters))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(operand, parameters))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(left, parameters), self._value(right, parameters))
            case ast.BoolOp(op=op, values=values):
                found = [bool(self._value(v, parameters)) for v in values]
                return all(found) if isinstance(op, ast.And) else any(found)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*(self._value(a, parameters) for a in args))
        raise Misuse(f"{self.place}: {self.text!r} is more than arithmetic", hint=HINT)


HINT = "numbers, parameters, + - * // / %, comparisons, and, or, not, ceil(a, b), min, max"
