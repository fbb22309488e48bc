"""Which values a whole number can have, as far as operators tell: so that what cannot go wrong need not be checked.

before   ``INPUT[20 + i % LENINPUT]``, where every LENINPUT is from 3 to 20
after    an index from 1 to 39
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelwright.grammar.c.tree import Expression

Range = tuple[int, int]
"""Least and greatest."""

LEAST, GREATEST = -(1 << 31), (1 << 31) - 1
ANY: Range = (LEAST, GREATEST)


def range_of(of: Expression, known: Mapping[str, Range]) -> Range:
    """``known``: the ranges of variables that are never assigned. Of an ``unsigned`` value nothing is told."""
    op, kind, arguments = of
    if op == "convert" and kind == "int" and arguments[0].type == "bool":
        return 0, 1
    if kind != "int":
        return ANY
    if op == "constant":
        value = arguments[0] - (1 << 32) if arguments[0] > GREATEST else arguments[0]
        return value, value
    if op == "variable":
        return known.get(arguments[0], ANY)
    if op in ("+", "-", "*", "%", "min", "max"):
        return _within(_COMBINE[op](range_of(arguments[0], known), range_of(arguments[1], known)))
    if op == "&":
        masks = [high for low, high in (range_of(each, known) for each in arguments) if low >= 0]
        return (0, min(masks)) if masks else ANY
    return ANY


def is_never_zero(of: Expression, known: Mapping[str, Range]) -> bool:
    """Whether dividing by it, also the least number there is, cannot go wrong."""
    low, high = range_of(of, known)
    return low > 0 or high < -1


def _within(found: Range) -> Range:
    """What may wrap around can be anything."""
    return found if found[0] >= LEAST and found[1] <= GREATEST else ANY


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _remainder(a: Range, b: Range) -> Range:
    """As large as the divisor at most, and with the sign of the dividend."""
    most = max(abs(b[0]), abs(b[1])) - 1
    return (max(a[0], -most) if a[0] < 0 else 0), (min(a[1], most) if a[1] > 0 else 0)


_COMBINE: Mapping[str, Callable[[Range, Range], Range]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _product,
    "%": _remainder,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
