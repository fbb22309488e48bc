"""What propagation means, in plain Python: every constraint asked again until none removes anything.

The definition that the engine in C is tested against. It looks at relations tuple by tuple, and at counters by trying every set of
members that may count apart; nothing is shared with ``packing.py``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from kernelwright.space.engine.constraints import Constraints, Masks, Term

Tuples = list[list[int]]
"""What a relation allows: places in the domains of its variables."""


class Oracle:
    """As ``Solver.root`` and ``Solver.restrict``, many times slower."""

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        c = constraints
        rows = [(row[:-1], row[-1]) for row in (*c.binary.tolist(), *c.ternary.tolist())]
        tuples: list[Tuples] = [np.argwhere(relation).tolist() for relation in c.relations]
        self._relations = [(scope, tuples[number]) for scope, number in rows]
        bounds = zip(c.clause_first[:-1], c.clause_first[1:], strict=True)
        self._clauses = [[(int(v), int(m)) for v, m in c.literals[a:b]] for a, b in bounds]

    def root(self) -> Masks | None:
        """The domains of all variables before any decision, as masks of values; None where nothing is possible."""
        return self._settled([int(m) for m in self.constraints.initial])

    def restrict(self, state: Masks, variable: int, mask: int) -> Masks | None:
        """The state after a decision; None when no solution is left."""
        domains = [int(m) for m in state]
        domains[variable] &= mask
        return self._settled(domains)

    def _settled(self, domains: list[int]) -> Masks | None:
        run = _Fixpoint(self.constraints, domains)
        before: list[int] = []
        while run.possible and before != domains:
            before = list(domains)
            run.look_at_presence()
            for scope, tuples in self._relations:
                run.relate(scope, tuples)
            for clause in self._clauses:
                run.choose(clause)
            for counter in self.constraints.counters:
                run.count(counter.limit, counter.terms)
        return np.array(domains, np.uint16) if run.possible else None


class _Fixpoint:
    def __init__(self, constraints: Constraints, domains: list[int]) -> None:
        self.constraints, self.domains = constraints, domains
        self.presence = [int(p) for p in constraints.presence]
        self.possible = True
        self.present = self.dead = 0

    def look_at_presence(self) -> None:
        self.present = self.dead = 0
        for group, (variable, yes) in enumerate(self.constraints.exists):
            domain = self.domains[variable]
            self.present |= (domain == yes) << group
            self.dead |= (not domain & yes) << group
        for v, objects in enumerate(self.presence):
            if objects & self.dead:
                self.domains[v] = 0
            elif not self.domains[v]:
                self.refuse(objects)

    def refuse(self, objects: int) -> None:
        """They cannot all exist."""
        absent = objects & ~self.present
        if objects & self.dead:
            return
        if not absent:
            self.possible = False
        elif absent.bit_count() == 1:
            variable, yes = self.constraints.exists[absent.bit_length() - 1]
            self.domains[variable] &= ~yes
            self.possible &= self.domains[variable] != 0

    def keep(self, v: int, mask: int, sources: int) -> None:
        """``v`` has only the values of ``mask`` if the objects ``sources`` exist."""
        value = self.domains[v] & mask
        if value == self.domains[v] or (sources | self.presence[v]) & self.dead:
            return
        if sources & ~(self.presence[v] | self.present):
            if not value:
                self.refuse(sources | self.presence[v])
            return
        self.domains[v] = value
        if not value:
            self.refuse(self.presence[v])

    def objects(self, variables: list[int]) -> int:
        found = 0
        for v in variables:
            found |= self.presence[v]
        return found

    def relate(self, scope: list[int], tuples: Tuples) -> None:
        for place, v in enumerate(scope):
            others = [w for w in scope if w != v]
            alive = tuples
            for i, w in enumerate(scope):
                if i != place:
                    domain = self.domains[w]
                    alive = [t for t in alive if domain >> t[i] & 1]
            self.keep(v, sum({1 << t[place] for t in alive}), self.objects(others))

    def choose(self, clause: list[tuple[int, int]]) -> None:
        open_ = [(v, m) for v, m in clause if self.domains[v] & m]
        if not open_:
            self.refuse(self.objects([v for v, _ in clause]))
        elif len(open_) == 1:
            v, mask = open_[0]
            self.keep(v, mask, self.objects([w for w, _ in clause if w != v]))

    # -- counters

    def holds(self, v: int, mask: int) -> bool | None:
        """Whether a condition surely holds; None when that is open. What does not exist yet does not count."""
        if self.presence[v] & ~self.present or not self.domains[v] & mask:
            return False
        return None if self.domains[v] & ~mask else True

    def weights(self, v: int | None, constant: float) -> dict[int, float]:
        if v is None:
            return {0: constant}
        row = self.constraints.values[self.constraints.value_row[v]]
        return {i: float(row[i]) for i in range(16) if self.domains[v] >> i & 1}

    def minimum(self, term: Term, extra: tuple[int, float] | None = None) -> float:
        """The least a term can be: the most over sets of members that surely count, each apart from the others. ``extra``: a member
        that counts with this weight, too."""
        chosen: dict[int, float] = {}
        for i, m in enumerate(term.members):
            exists = m.amount is None or not self.presence[m.amount] & ~self.present
            if exists and all(self.holds(*guard) for guard in m.guards):
                chosen[i] = min(self.weights(m.amount, m.constant).values())
        chosen = self.one_of_each(term, chosen)
        if extra is not None:
            chosen.pop(extra[0], None)
        best = 0.0 if term.sums else 1.0
        for members in _sets(list(chosen), lambda a, b: self.apart(term, a, b)):
            if extra is not None and not all(self.apart(term, extra[0], i) for i in members):
                continue
            found = [chosen[i] for i in members] + ([extra[1]] if extra is not None else [])
            best = max(best, sum(found) if term.sums else math.prod(found))
        return term.coefficient * best

    def same_variable(self, term: Term, a: int, b: int) -> int:
        return -1 if term.same is None else int(term.same[a][b])

    def apart(self, term: Term, a: int, b: int) -> bool:
        v = self.same_variable(term, a, b)
        if term.same is None:
            return True
        return v >= 0 and not self.presence[v] & ~self.present and not self.domains[v] & term.same_mask

    def one_of_each(self, term: Term, chosen: dict[int, float]) -> dict[int, float]:
        kept: dict[int, float] = {}
        for i, weight in chosen.items():
            twin = next((k for k in kept if self.holds(self.same_variable(term, k, i), term.same_mask)
                         and self.same_variable(term, k, i) >= 0), None) if term.same is not None else None  # fmt: skip
            if twin is None:
                kept[i] = weight
            else:
                kept[twin] = max(kept[twin], weight)
        return kept

    def count(self, limit: float, terms: tuple[Term, ...]) -> None:
        if not self.possible:
            return
        least = [self.minimum(t) if t.guard is None or self.holds(*t.guard) else 0.0 for t in terms]
        if sum(least) > limit:
            self.possible = False
            return
        for number, term in enumerate(terms if self.possible else ()):
            others = sum(least) - least[number]
            if term.guard is not None and not self.holds(*term.guard):
                if self.holds(*term.guard) is None and others + self.minimum(term) > limit:
                    self.take(term.guard[0], term.guard[1])
                continue
            for i, m in enumerate(term.members):
                self.count_member(term, i, m.guards, m.amount, m.constant, limit - others)

    def count_member(
        self, term: Term, i: int, guards: tuple[tuple[int, int], ...], amount: int | None, constant: float, limit: float
    ) -> None:
        if not self.possible or (amount is not None and self.presence[amount] & ~self.present):
            return
        states = [self.holds(*guard) for guard in guards]
        weights = self.weights(amount, constant)
        if not weights:
            return
        if all(states):
            twins = [j for j in range(i) if self.same_variable(term, j, i) >= 0
                     and self.holds(self.same_variable(term, j, i), term.same_mask)] if term.same is not None else []  # fmt: skip
            counted = [j for j in twins if all(self.holds(*g) for g in term.members[j].guards)]
            if amount is not None and not counted:
                over = [value for value, weight in weights.items() if self.minimum(term, (i, weight)) > limit]
                self.take(amount, sum(1 << value for value in over))
        elif states.count(None) == 1 and False not in states and self.minimum(term, (i, min(weights.values()))) > limit:
            v, mask = guards[states.index(None)]
            self.take(v, mask)

    def take(self, v: int, mask: int) -> None:
        self.domains[v] &= ~mask
        if not self.domains[v]:
            self.refuse(self.presence[v])


def _sets(members: list[int], apart) -> Iterator[tuple[int, ...]]:  # type: ignore[no-untyped-def]
    """All sets of members that are pairwise apart."""
    for size in range(len(members) + 1):
        for found in itertools.combinations(members, size):
            if all(apart(a, b) for a, b in itertools.combinations(found, 2)):
                yield found
