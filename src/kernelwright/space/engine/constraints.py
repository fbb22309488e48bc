"""What the engine solves: variables with small domains, relations between them, clauses, counters, optional objects.

A domain is a bit mask of at most 16 values. *Presence*: an object may be optional; bit ``g`` of a variable's ``presence`` says that the
variable belongs to optional object ``g``, which exists when variable ``exists[g][0]`` has exactly the value of mask ``exists[g][1]``. A
constraint holds only where all objects of its variables exist. Meanwhile the domains of what may not exist are those it would have
if it did: one of them empty means that the object cannot exist (paper 004, section 3.4, without new variables).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

MOST_VALUES = 16
MOST_GROUPS = 32

Masks = npt.NDArray[np.uint16]
Integers = npt.NDArray[np.int32]
Relation = npt.NDArray[np.bool_]
"""``relation[i, j, ...]``: whether value ``i`` of the first variable goes with value ``j`` of the second, and so on."""

LiteralPair = tuple[int, int]
"""A variable and the mask of values with which the literal holds."""


@dataclass(frozen=True)
class Member:
    """What a counter may count: it does when all ``guards`` (at most two) hold. It counts as the value of variable ``amount``, or as
    ``constant``."""

    guards: tuple[LiteralPair, ...]
    amount: int | None = None
    constant: float = 1.0


@dataclass(frozen=True)
class Term:
    """``coefficient`` times the product (or sum) of the members that count, where ``guard`` holds.

    ``same[i][j]``: the variable that says with a value of ``same_mask`` that members ``i`` and ``j`` are one and count once, -1 where they
    never are. It must say so as an equivalence; rules of the space keep it one.
    """

    members: tuple[Member, ...]
    sums: bool = False
    guard: LiteralPair | None = None
    coefficient: float = 1.0
    same: Integers | None = None
    same_mask: int = 0


@dataclass(frozen=True)
class Counter:
    """The sum of the terms is at most ``limit``. Weights of products are at least 1, of sums at least 0."""

    limit: float
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Constraints:
    """A space whose objects are known. Scopes are sorted by variable, and no two constraints of one arity have the same."""

    sizes: Integers
    """Values per variable."""
    initial: Masks
    presence: npt.NDArray[np.uint32]
    exists: tuple[LiteralPair, ...]
    values: npt.NDArray[np.float64]
    """Rows of 16 numbers, ascending: what the values of an integer variable are."""
    value_row: Integers
    relations: tuple[Relation, ...]
    binary: Integers
    """(n, 3): two variables, and the relation between them."""
    ternary: Integers
    """(n, 4): three variables, and the relation."""
    clause_first: Integers
    literals: Integers
    """(n, 2): variable and mask; clause ``i`` has rows ``clause_first[i]`` to ``clause_first[i + 1]``, one of which holds."""
    counters: tuple[Counter, ...] = ()

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return len(self.sizes)

    @cached_property
    def bases(self) -> dict[str, int]:
        """Constraints have one numbering: where each kind begins in it."""
        ternary = len(self.binary)
        clause = ternary + len(self.ternary)
        counter = clause + len(self.clause_first) - 1
        presence = counter + len(self.counters)
        return {"binary": 0, "ternary": ternary, "clause": clause, "counter": counter, "presence": presence}

    def kind_of(self, constraint: int) -> tuple[str, int]:
        """The kind of a constraint and its number within that kind."""
        # Of kinds that begin at the same number all but the last are empty.
        kind, base = [row for row in self.bases.items() if row[1] <= constraint][-1]
        return kind, constraint - base

    def scope(self, constraint: int) -> list[int]:
        """The variables of a constraint."""
        kind, number = self.kind_of(constraint)
        if kind == "binary":
            return [int(v) for v in self.binary[number, :2]]
        if kind == "ternary":
            return [int(v) for v in self.ternary[number, :3]]
        if kind == "clause":
            rows = self.literals[self.clause_first[number] : self.clause_first[number + 1]]
            return [int(v) for v in rows[:, 0]]
        if kind == "counter":
            return counter_variables(self.counters[number])
        group = self.exists[number][0]
        return [group, *(int(v) for v in np.nonzero(self.presence >> np.uint32(number) & 1)[0])]


def counter_variables(counter: Counter) -> list[int]:
    """Every variable that a counter reads, each once."""
    found: dict[int, None] = {}
    for term in counter.terms:
        if term.guard:
            found[term.guard[0]] = None
        for member in term.members:
            found.update((v, None) for v, _ in member.guards)
            if member.amount is not None:
                found[member.amount] = None
        if term.same is not None:
            found.update((int(v), None) for v in term.same.ravel() if v >= 0)
    return list(found)
