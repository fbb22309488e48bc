"""Programs interpreted: all cases at once, operation by operation, with C's arithmetic. The other back ends are compared to it.

A condition that differs from case to case masks what depends on it. Whole numbers wrap around at 32 bits; shifts count modulo
32; real numbers become whole ones as on a GPU: cut off, the nearest there is when they are too large, and 0 for a NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import DeviceError
from kernelwright.grammar.c.tree import REAL, Assign, Expression, If, Statement, Type

DTYPES: Mapping[Type, Any] = {
    "bool": np.bool_, "int": np.int32, "unsigned": np.uint32, "float": np.float32, "double": np.float64,
}  # fmt: skip

ROUNDS = 100_000
"""Rounds of one loop: more are taken for a loop that does not end."""

Values = NDArray[Any]
Mask = NDArray[np.bool_]


def interpret(
    statements: tuple[Statement, ...],
    variables: Mapping[str, Values],
    arrays: Mapping[str, Values],
    cases: int,
    rounds: int = ROUNDS,
    operations: Mapping[str, Callable[..., Values]] | None = None,
) -> dict[str, Values]:
    """The variables after the statements: one value for each case, or one for all.

    ``variables``: what they are before, of the right types. ``arrays``: ``[case, element]``. ``operations``: in the place of
    ``OPERATIONS``, for who asks what a result depends on. Raises ``DeviceError`` for an
    index outside of its array, for a whole number divided by zero, and for a loop of more than ``rounds`` rounds.
    """
    run = _Run(dict(variables), arrays, cases, rounds, OPERATIONS if operations is None else operations)
    with np.errstate(all="ignore"):
        run.block(statements, None)
    return run.variables


class _Run:
    """``mask``: the cases that a statement is for; None for all."""

    def __init__(
        self,
        variables: dict[str, Values],
        arrays: Mapping[str, Values],
        cases: int,
        rounds: int,
        operations: Mapping[str, Callable[..., Values]],
    ) -> None:
        self.variables = variables
        self._arrays = arrays
        self._cases = cases
        self._rounds = rounds
        self._operations = operations
        self._constants: dict[tuple[Type, Any], Values] = {}

    def block(self, statements: tuple[Statement, ...], mask: Mask | None) -> None:
        for each in statements:
            if isinstance(each, Assign):
                self._assign(each, mask)
            elif isinstance(each, If):
                self._if(each, mask)
            else:
                active = self._where(each.condition, mask)
                left = self._rounds
                while active is None or active.any():
                    if not left:
                        raise DeviceError(f"a loop went round more than {self._rounds} times")
                    left -= 1
                    self.block(each.body, active)
                    active = self._where(each.condition, active)

    def _assign(self, each: Assign, mask: Mask | None) -> None:
        value = self.value(each.value, mask)
        before = self.variables.get(each.name)
        self.variables[each.name] = value if mask is None or before is None else np.where(mask, value, before)

    def _if(self, each: If, mask: Mask | None) -> None:
        condition = np.broadcast_to(self.value(each.condition, mask), (self._cases,))
        for statements, holds in ((each.then, condition), (each.otherwise, ~condition)):
            active = holds if mask is None else holds & mask
            if statements and active.any():
                self.block(statements, None if active.all() else active)

    def _where(self, condition: Expression, mask: Mask | None) -> Mask | None:
        found = np.broadcast_to(self.value(condition, mask), (self._cases,))
        active = found if mask is None else found & mask
        return None if active.all() else active

    # -- expressions ----------------------------------------------------------------------------------------------

    def value(self, of: Expression, mask: Mask | None) -> Values:
        op, kind, arguments = of
        if op == "variable":
            return self.variables[arguments[0]]
        if op == "constant":
            known = self._constants.get((kind, arguments[0]))
            if known is None:
                known = self._constants[kind, arguments[0]] = constant(kind, arguments[0])
            return known
        if op == "element":
            return self._element(arguments[0], self.value(arguments[1], mask), mask)
        if op in ("&&", "||"):
            return self._logic(op, arguments[0], arguments[1], mask)
        if op == "select":
            return self._select(arguments, mask)
        if op == "convert":
            return convert(self.value(arguments[0], mask), kind)
        values = [self.value(each, mask) for each in arguments]
        if op in ("/", "%") and kind not in REAL:
            self._check_divisor(values[1], mask)
            op = "quotient" if op == "/" else "remainder"
        found: Values = self._operations[op](*values)
        return found

    def _element(self, name: str, index: Values, mask: Mask | None) -> Values:
        array = self._arrays[name]
        index = np.broadcast_to(index, (self._cases,))
        outside = (index < 0) | (index >= array.shape[1])
        if outside.any():
            wrong = outside if mask is None else outside & mask
            if wrong.any():
                case = int(np.argmax(wrong))
                raise DeviceError(f"{name}[{index[case]}] lies outside of its {array.shape[1]} elements (case {case})")
            index = np.where(outside, 0, index)
        chosen: Values = array[np.arange(self._cases), index]
        return chosen

    def _logic(self, op: str, left: Expression, right: Expression, mask: Mask | None) -> Values:
        """The right side only where the left one leaves it open."""
        first = np.broadcast_to(self.value(left, mask), (self._cases,))
        undecided = first if op == "&&" else ~first
        active = undecided if mask is None else undecided & mask
        if not active.any():
            return first
        second = self.value(right, None if active.all() else active)
        return first & second if op == "&&" else first | second

    def _select(self, arguments: tuple[Expression, ...], mask: Mask | None) -> Values:
        condition = np.broadcast_to(self.value(arguments[0], mask), (self._cases,))
        found: list[Values] = []
        for each, holds in zip(arguments[1:], (condition, ~condition), strict=True):
            active = holds if mask is None else holds & mask
            idle = constant(each.type, 0)
            found.append(self.value(each, None if active.all() else active) if active.any() else idle)
        return np.where(condition, *found)

    def _check_divisor(self, divisor: Values, mask: Mask | None) -> None:
        zero = divisor == 0
        if zero.any() and (mask is None or (zero & mask).any()):
            raise DeviceError("a whole number is divided by zero")


def constant(kind: Type, value: Any) -> Values:
    """A literal as NumPy has it: whole numbers come as their 32 bits."""
    if kind in REAL:
        return np.asarray(value, DTYPES[kind])
    return np.asarray(value, np.uint32).astype(DTYPES[kind]) if kind != "bool" else np.asarray(bool(value))


def convert(value: Values, kind: Type) -> Values:
    """As C does; real to whole as a GPU does."""
    if value.dtype.kind == "f" and kind in ("int", "unsigned"):
        limits = np.iinfo(DTYPES[kind])
        cut = np.nan_to_num(np.trunc(value.astype(np.float64)), nan=0.0, posinf=limits.max, neginf=limits.min)
        whole: Values = np.clip(cut, limits.min, limits.max).astype(np.int64).astype(DTYPES[kind])
        return whole
    return value.astype(DTYPES[kind])


def _quotient(a: Values, b: Values) -> Values:
    """Cut off towards zero. Exact: a quotient of 32 bits that is no whole number is far from one in 53 bits."""
    cut: Values = np.trunc(a.astype(np.float64) / b).astype(np.int64).astype(a.dtype)
    return cut


def _shift(shift: Callable[..., Values]) -> Callable[[Values, Values], Values]:
    def by_31_at_most(value: Values, by: Values) -> Values:
        shifted: Values = shift(value, (by & 31).astype(value.dtype))
        return shifted

    return by_31_at_most


OPERATIONS: Mapping[str, Callable[..., Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "quotient": _quotient,
    "remainder": np.fmod,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": _shift(np.left_shift),
    ">>": _shift(np.right_shift),
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "not": np.logical_not,
    "negate": np.negative,
    "complement": np.invert,
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.abs,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "pow": np.power,
    "pdiv": lambda a, b: np.where(b == 0, a.dtype.type(1), np.divide(a, b)),
    "fabs": np.abs,
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "tanh", "exp", "log", "sqrt", "floor", "ceil")},
}
