"""Sizes that are known only at launch: numbers that remember which formula of the sizes they are.

    n = size_at_launch("n", 1024)
    n + 2                              1026, and "n + 2"
    n * n                              1048576, and "n * n"

A declaration computes with them as with the numbers they are tuned at; extents, shapes, strides and offsets that come of it keep their
formula, a sum of products. Whatever else is done with a size (a quotient, a comparison) is the plain number of the tuned size, and
``at_launch.py`` finds it where a declaration depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class LaunchSize:
    """A parameter of the kernel: ``multiple`` divides every value it is launched with."""

    name: str
    multiple: int = 1

    def __str__(self) -> str:
        return self.name if self.multiple == 1 else f"{self.name}:{self.multiple}"


Monomial = tuple[LaunchSize, ...]
"""In the order of their names; empty for the number 1."""


@dataclass(frozen=True)
class Formula:
    """A sum of products of sizes, each with a whole factor that is not 0. In a fixed order, so that equal formulas are equal values."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Formula) -> Formula:
        return _formula([*self.terms, *other.terms])

    def __mul__(self, other: Formula) -> Formula:
        return _formula([((*a, *b), f * g) for a, f in self.terms for b, g in other.terms])

    @property
    def is_constant(self) -> bool:
        """Whether no size is in it."""
        return all(not monomial for monomial, _ in self.terms)

    @property
    def sizes(self) -> tuple[LaunchSize, ...]:
        """The sizes in it, each once, in the order of the terms."""
        return tuple(dict.fromkeys(size for monomial, _ in self.terms for size in monomial))

    @property
    def factor(self) -> int:
        """The largest number that divides all terms as they are written; 1 of nothing."""
        return gcd(*(f for _, f in self.terms)) or 1

    @property
    def divisor(self) -> int:
        """A number that divides the value at every launch: what the multiples of the sizes say."""
        return gcd(*(f * prod(size.multiple for size in monomial) for monomial, f in self.terms))

    def over(self, number: int) -> Formula:
        """Of a number that divides all factors."""
        return Formula(tuple((monomial, f // number) for monomial, f in self.terms))

    def at(self, sizes: Mapping[str, int]) -> int:
        """Its value, with sizes by name. Raises ``KeyError`` for one that is missing."""
        return sum(f * prod(sizes[size.name] for size in monomial) for monomial, f in self.terms)

    def is_positive(self) -> bool:
        """Whether it is above 0 at every launch, as far as the factors tell: each size is its multiple times 1 + something from 0."""
        shifted = _formula([])
        for monomial, f in self.terms:
            term = constant(f)
            for size in monomial:
                term *= _formula([((size,), size.multiple), ((), size.multiple)])
            shifted += term
        return bool(dict(shifted.terms).get((), 0) > 0) and all(f > 0 for _, f in shifted.terms)

    def text(self, first: str = "") -> str:
        """In C: ``m * n + 4 * n + 4``. ``first``: a factor in front of each term, which sets its type."""
        parts = list[str]()
        for monomial, f in self.terms:
            names = " * ".join([*([first] if first else []), *(size.name for size in monomial)])
            number = str(abs(f)) if abs(f) != 1 or not names else ""
            sign = ("-" if f < 0 else "") if not parts else (" - " if f < 0 else " + ")
            parts.append(sign + " * ".join(part for part in (number, names) if part))
        return "".join(parts) or "0"


def constant(number: int) -> Formula:
    """A formula that is this number at every launch."""
    return _formula([((), number)])


def _formula(terms: list[tuple[Monomial, int]]) -> Formula:
    found: dict[Monomial, int] = {}
    for monomial, f in terms:
        key = tuple(sorted(monomial, key=lambda size: size.name))
        found[key] = found.get(key, 0) + f
    ordered = sorted(found.items(), key=lambda term: (-len(term[0]), [size.name for size in term[0]]))
    return Formula(tuple((monomial, f) for monomial, f in ordered if f))


class Size(int):
    """The number at the sizes that are tuned on, with its formula. Sums, differences and products of it are, too."""

    formula: Formula

    def __new__(cls, value: int, formula: Formula) -> Size:
        made = super().__new__(cls, value)
        made.formula = formula
        return made

    def __getnewargs__(self) -> tuple[int, Formula]:  # type: ignore[override]
        return int(self), self.formula

    def __add__(self, other: int) -> int:
        return _made(int(self) + int(other), self.formula + formula_of(other)) if _is_whole(other) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: int) -> int:
        return _made(int(self) * int(other), self.formula * formula_of(other)) if _is_whole(other) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> int:
        return self * -1

    def __sub__(self, other: int) -> int:
        return self + other * -1 if _is_whole(other) else NotImplemented

    def __rsub__(self, other: int) -> int:
        return self * -1 + other if _is_whole(other) else NotImplemented


def size_at_launch(name: str, value: int, multiple: int = 1) -> Size:
    """``value``: what it is tuned at."""
    return Size(value, _formula([((LaunchSize(name, multiple),), 1)]))


def formula_of(number: int) -> Formula:
    """The formula that a number remembers, or itself."""
    return number.formula if isinstance(number, Size) else constant(int(number))


def is_dynamic(number: int) -> bool:
    """Whether it is known only at launch."""
    return isinstance(number, Size)


def known_divisor(number: int) -> int:
    """A number that divides it, whatever the launch: itself, where it is known."""
    return number.formula.divisor if isinstance(number, Size) else int(number)


def value_at(number: int, sizes: Mapping[str, int]) -> int:
    """What it is at a launch with these sizes."""
    return number.formula.at(sizes) if isinstance(number, Size) else int(number)


def shown(number: int) -> str:
    """For people: its formula, where it has one."""
    return number.formula.text() if isinstance(number, Size) else str(number)


def is_below(a: int, b: int) -> bool:
    """Whether ``a < b`` at every launch."""
    return (formula_of(b) + formula_of(a) * constant(-1)).is_positive()


def _made(value: int, formula: Formula) -> int:
    return value if formula.is_constant else Size(value, formula)


def _is_whole(thing: object) -> bool:
    return isinstance(thing, int) and not isinstance(thing, bool)
