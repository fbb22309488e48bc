"""A sum of thread numbers, block numbers and turns of loops, as an address or an index is one.

139,637,976 + 1024 * ctaid.x + 4 * tid.x        0 .. 65,535
"""

from __future__ import annotations

from collections.abc import Mapping

Terms = dict["Atom", int]
Range = tuple[int, int]


class Atom:
    """A number that a form is made of. ``axis``: of the block number, 0 to 2."""

    __slots__ = ("axis", "high", "low", "name")

    def __init__(self, name: str, low: int, high: int, axis: int | None = None) -> None:
        self.name, self.low, self.high, self.axis = name, low, high, axis

    def __repr__(self) -> str:
        return f"{self.name}[{self.low}..{self.high}]"


class Form:
    """``constant`` + the sum of ``terms``. ``root``: the pointer it is made from, as a number. ``needs``: forms that must not be
    negative, else this one says nothing."""

    __slots__ = ("constant", "needs", "root", "terms")

    def __init__(
        self, constant: int, terms: Terms | None = None, root: int | None = None, needs: tuple[Form, ...] = ()
    ) -> None:
        self.constant, self.terms, self.root, self.needs = constant, terms or {}, root, needs

    @property
    def range(self) -> Range:
        """Least and greatest value, both included, by the ranges of the atoms, each taken for itself."""
        low = high = self.constant
        for atom, factor in self.terms.items():
            a, b = factor * atom.low, factor * atom.high
            low, high = low + min(a, b), high + max(a, b)
        return low, high

    def plus(self, other: Form, factor: int = 1) -> Form:
        """This form + ``factor`` * ``other``. It needs what both need. ``root``: that of the one side that has one; of
        ``other`` only where the factor is 1."""
        terms = dict(self.terms)
        for atom, k in other.terms.items():
            total = terms.get(atom, 0) + factor * k
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Form(
            self.constant + factor * other.constant, terms, _root(self, other, factor), self.needs + other.needs
        )

    def times(self, factor: int) -> Form:
        """This form times ``factor``; without its root, unless the factor is 1."""
        root = self.root if factor == 1 else None
        terms = {a: k * factor for a, k in self.terms.items()} if factor else {}
        return Form(self.constant * factor, terms, root, self.needs)

    def with_known(self, known: Mapping[Atom, int]) -> Form:
        """The same where some atoms are known to be these numbers."""
        constant = self.constant + sum(k * known[a] for a, k in self.terms.items() if a in known)
        terms = {a: k for a, k in self.terms.items() if a not in known}
        return Form(constant, terms, self.root, tuple(need.with_known(known) for need in self.needs))

    def divisible(self, by: int) -> bool:
        """Whether the constant and all factors are multiples of ``by``, and so every value of the form."""
        return self.constant % by == 0 and all(k % by == 0 for k in self.terms.values())

    @property
    def key(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Constant and terms, equal for equal sums, without root and needs. Holds while the atoms exist: they are told apart by ``id``."""
        return self.constant, tuple(sorted((id(a), k) for a, k in self.terms.items()))

    def __repr__(self) -> str:
        return " + ".join([str(self.constant), *(f"{k} * {a}" for a, k in self.terms.items())])


def _root(a: Form, b: Form, factor: int) -> int | None:
    if a.root is not None:
        return a.root if b.root is None else None
    return b.root if factor == 1 else None


def fits(found: Range, bits: int) -> bool:
    """Whether signed numbers of so many bits hold all of a range."""
    low, high = limits(bits)
    return low <= found[0] and found[1] <= high


def limits(bits: int) -> Range:
    """The least and the largest signed number of so many bits."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
