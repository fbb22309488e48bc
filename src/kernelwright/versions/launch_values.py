"""The numbers of a launch that thresholds of winners compare: sums of products of its arguments and extents.

    threads                 all threads of the launch
    rows * columns          whole-number arguments of the kernel, by their names
    n * grid.x - 1          grid.x to block.z are its extents
    bytes(in)               how much memory lies behind a pointer

A threshold takes its version from a value up, with ``rows <=`` up to a value: then the negated number is compared, as everywhere.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping

from kernelwright.errors import Misuse
from kernelwright.guards import LaunchFacts
from kernelwright.launch_relations import Product, Quantity, Relation, Sum, value_of
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.program import INFINITE

Arguments = Mapping[str, Quantity]
"""A kernel's arguments by their names: a number of the launch, or of a pointer the bytes behind it."""

THREADS = tuple(Quantity(source, axis) for source in ("grid", "block") for axis in range(3))
EXTENTS = {f"{q.source}{dim}.{'xyz'[q.index]}": q for q in THREADS for dim in ("", "Dim")}
_HINT = (
    "sums and products of whole-number arguments, threads, grid.x, block.x and bytes(POINTER), as in 'rows * columns'"
)
_Polynomial = dict[tuple[Quantity, ...], int]


@dataclass(frozen=True)
class LaunchValue:
    """A number of each launch."""

    text: str
    """As it stands in the name of a threshold: no blanks, a minus before it where it is compared from below."""
    sum: Sum
    is_negated: bool = False
    """Whether its version is for small values: ``sum`` negated is compared."""

    def of(self, facts: LaunchFacts) -> int | None:
        """What is compared with the threshold; None where the launch has no such number."""
        value = value_of(self.sum, facts)
        return None if value is None else max(1 - INFINITE, min(-value if self.is_negated else value, INFINITE - 1))

    def check(self, threshold: int) -> Relation:
        """What a launch is asked so that the version runs from ``threshold`` on."""
        if self.is_negated:
            return Relation(self.sum, "<=", (Product(-threshold),))
        return Relation(self.sum, ">=", (Product(threshold),))

    def words(self, threshold: int) -> str:
        """The check as people read it."""
        text = {"threads": "threads of the launch"}.get(self.plain, self.plain)
        return f"{text} <= {-threshold}" if self.is_negated else f"{text} >= {threshold}"

    @property
    def plain(self) -> str:
        """What it is the number of, without the minus."""
        tree = _parsed(self.text)
        return _written(_without_minus(tree) or tree)


def launch_value(text: str, arguments: Arguments) -> LaunchValue:
    """The number that ``text`` is, of launches of a kernel with these arguments; ``>=`` or ``<=`` may end it.

    Raises ``Misuse`` for what is none.
    """
    found = re.fullmatch(r"\s*(.*?)\s*([<>]=)?\s*", text, re.S)
    assert found is not None
    try:
        tree = _parsed(found[1])
    except (SyntaxError, ValueError):
        raise Misuse(f"{text!r} is no number of a launch", hint=_HINT) from None
    if found[2] == "<=":
        tree = _without_minus(tree) or ast.UnaryOp(ast.USub(), tree)
    from_below = _without_minus(tree)
    terms = _polynomial(from_below or tree, arguments, text)
    sum = tuple(Product(factor, quantities) for quantities, factor in terms.items() if factor)
    if not any(product.quantities for product in sum):
        raise Misuse(f"{text!r} is the same number for every launch", hint=_HINT)
    return LaunchValue("".join(_written(tree).split()), sum, from_below is not None)


def _without_minus(tree: ast.expr) -> ast.expr | None:
    """What is negated; None where nothing is."""
    return tree.operand if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub) else None


_ESCAPED = "__of_the_launch"
"""After names that are words of Python, which those of C may be: ``in``."""


def _parsed(text: str) -> ast.expr:
    """Raises ``SyntaxError``, ``ValueError``."""
    names = re.sub(r"\b[^\W\d]\w*", lambda word: word[0] + _ESCAPED * keyword.iskeyword(word[0]), text)
    return ast.parse(names, mode="eval").body


def _written(tree: ast.expr) -> str:
    return ast.unparse(tree).replace(_ESCAPED, "")


def _polynomial(node: ast.expr, arguments: Arguments, text: str) -> _Polynomial:
    """By product of quantities its factor."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            if number > INFINITE:
                raise Misuse(f"{text!r}: {number} is no number of 64 bits", hint=_HINT)
            return {(): number}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _times({(): -1}, _polynomial(operand, arguments, text))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operation, right=right):
            one, other = _polynomial(left, arguments, text), _polynomial(right, arguments, text)
            if isinstance(operation, ast.Mult):
                return _times(one, other)
            sign = -1 if isinstance(operation, ast.Sub) else 1
            return {q: one.get(q, 0) + sign * other.get(q, 0) for q in {**one, **other}}
        case ast.Call(func=ast.Name(id="bytes"), args=[ast.Name() as pointer], keywords=[]):
            name = _written(pointer)
            if (found := arguments.get(name)) is not None and found.source == "bytes":
                return {(found,): 1}
            pointers = [name for name, q in arguments.items() if q.source == "bytes"]
            raise Misuse(f"{text!r}: the kernel's pointers are {', '.join(pointers) or 'none'}", hint=_HINT)
        case ast.Attribute() if ast.unparse(node) in EXTENTS:
            return {(EXTENTS[ast.unparse(node)],): 1}
        case ast.Name():
            name = _written(node)
            if name == "threads":  # also where an argument is called so: a threshold's name says which of the two it is
                return {THREADS: 1}
            if name in arguments and arguments[name].source != "bytes":
                return {(arguments[name],): 1}
            numbers = [name for name, q in arguments.items() if q.source != "bytes"]
            said = f"the kernel's whole-number arguments are {', '.join(numbers)}" if numbers else "the kernel has none"
            raise Misuse(f"{text!r}: {name} is no whole number of a launch; {said}", hint=_HINT)
    raise Misuse(f"{text!r} is more than sums and products of a launch's numbers", hint=_HINT)


def _times(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    product: _Polynomial = {}
    for left, factor in one.items():
        for right, more in other.items():
            quantities = tuple(sorted((*left, *right)))
            product[quantities] = product.get(quantities, 0) + factor * more
    return product
