"""Why a value is gone: the fewest earlier decisions that remove it, and the rules by which they do.

    why(partial, order(a, d).INNER)     →     because of dim_kind(d) is VECTOR: vectors_hold_one_instruction

Decisions are dropped one by one while what is left still removes the value (a deletion filter): none of those that remain can be
left out. What is tried is what the recorded propagation went back to, so that most are never asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.engine.constraints import Integers, Masks
from kernelwright.space.engine.solver import DECISION, Change, Changes, Solver
from kernelwright.space.lang.declaration import Rule
from kernelwright.space.lang.ground_space import GroundSpace

Decision = tuple[int, int]
"""A variable, and the mask of the values that are kept."""
VARIABLE, _, AFTER, CAUSE = range(4)
"""Columns of ``Changes``."""
MOST_STEPS = 12
"""Steps of an explanation, the last ones: a chain goes back further than a reader does."""


@dataclass(frozen=True)
class Step:
    """``lost`` reads ``order(a, b) is INNER``: what became impossible, and the rules for which it did."""

    lost: str
    rules: tuple[Rule, ...]

    def __str__(self) -> str:
        because = "; ".join(f"{r.name}: {r.reason}" for r in self.rules) or "it would need what does not exist"
        return f"not {self.lost}: {because}"


@dataclass(frozen=True)
class Explanation:
    """``what`` is impossible once ``decisions`` are made, by ``steps`` from them to it; without decisions it never was possible."""

    what: str
    decisions: tuple[str, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        head = f"{self.what} is impossible" + (" with" if self.decisions else " in the whole space")
        return "\n".join([head, *(f"  {d}" for d in self.decisions), *(f"    {s}" for s in self.steps)])


class Reasons:
    """Explanations for one space."""

    def __init__(self, space: GroundSpace, solver: Solver) -> None:
        self.space, self.solver = space, solver
        self._root = solver.recorded(None)
        self._scopes: dict[int, list[int]] = {}

    def why(self, decisions: Sequence[Decision], variable: int, mask: int) -> Explanation:
        """Why none of the values of ``mask`` is left for a variable after ``decisions``. Raises ``Misuse`` when one is."""
        needed = self._fewest(decisions, variable, mask)
        if needed is None:
            raise Misuse(f"{self.space.describe(variable, mask)} is possible", hint="ask about a value that is gone")
        return self._explained(needed, variable, mask, self.space.describe(variable, mask))

    def clash(self, decisions: Sequence[Decision]) -> Explanation | None:
        """Which of the decisions exclude one another; None when they do not."""
        needed = self._fewest(decisions, -1, 0)
        return None if needed is None else self._explained(needed, -1, 0, "an implementation")

    # -- the fewest decisions

    def _fewest(self, decisions: Sequence[Decision], variable: int, mask: int) -> list[Decision] | None:
        prefix = self._removing_prefix(decisions, variable, mask)
        if prefix is None:
            return None
        needed = [prefix[i] for i in sorted(self._involved(prefix, variable, mask))]
        if not self._removes(needed, variable, mask):
            needed = prefix
        for decision in list(needed):
            fewer = [d for d in needed if d != decision]
            if self._removes(fewer, variable, mask):
                needed = fewer
        return needed

    def _removing_prefix(self, decisions: Sequence[Decision], variable: int, mask: int) -> list[Decision] | None:
        """The first decisions after which the value is gone."""
        held, root, _ = self._root
        if not held or (variable >= 0 and not int(root[variable]) & mask):
            return []
        state = root.copy()
        for count, (v, kept) in enumerate(decisions, 1):
            if not self._decide(state, v, kept) or (variable >= 0 and not int(state[variable]) & mask):
                return list(decisions[:count])
        return None

    def _decide(self, state: Masks, variable: int, kept: int) -> bool:
        """False where a decision is about what cannot exist, too."""
        return bool(int(state[variable]) & kept) and self.solver.restrict(state, variable, kept)

    def _removes(self, decisions: Sequence[Decision], variable: int, mask: int) -> bool:
        return self._removing_prefix(decisions, variable, mask) is not None

    # -- the chain of rules

    def _recorded(self, decisions: Sequence[Decision]) -> tuple[Changes, Integers]:
        """Every change, and the decision (its number; -1 before the first) during which it happened."""
        held, state, changes = self._root
        parts = [changes]
        for v, kept in decisions:
            if not held or not int(state[v]) & kept:
                break
            held, state, changes = self.solver.recorded(state, v, kept)
            parts.append(changes)
        turns = np.repeat(np.arange(-1, len(parts) - 1, dtype=np.int32), [len(p) for p in parts])
        return np.concatenate(parts), turns

    def _involved(self, decisions: Sequence[Decision], variable: int, mask: int) -> set[int]:
        """Numbers of decisions from which the recorded propagation came to the value's removal."""
        changes, turns = self._recorded(decisions)
        found = {int(turns[i]) for i in self._chain(changes, variable, mask) if changes[i, CAUSE] == DECISION}
        if variable < 0 or not len(_taken(changes, variable, mask)):
            found.add(len(decisions) - 1)
        return {number for number in found if number >= 0}

    def _chain(self, changes: Changes, variable: int, mask: int) -> list[int]:
        """The changes that the removal of a value goes back to, in their order; of an impossible state those that emptied a domain."""
        by_variable = np.argsort(changes[:, VARIABLE], kind="stable")
        first = np.searchsorted(
            changes[by_variable, VARIABLE], np.arange(self.space.constraints.variables + 1)
        ).tolist()
        at_variable = by_variable.tolist()
        if variable < 0:
            emptied = np.nonzero(changes[:, AFTER] == 0)[0][:1].tolist()
            todo = emptied or [len(changes) - 1]
        else:
            todo = _taken(changes, variable, mask).tolist()
            for v in self._existence(variable):
                todo += at_variable[first[v] : first[v + 1]]
        causes = changes[:, CAUSE].tolist()
        reached = first[:-1]
        seen = set[int]()
        while todo:
            at = todo.pop()
            if at in seen or at < 0:
                continue
            seen.add(at)
            if causes[at] == DECISION:
                continue
            for source in self._scope(causes[at]):
                # What had been taken from the constraint's other variables before; up to `reached` it is known already.
                i, last = reached[source], first[source + 1]
                while i < last and at_variable[i] < at:
                    todo.append(at_variable[i])
                    i += 1
                reached[source] = i
        return sorted(seen)

    def _scope(self, constraint: int) -> list[int]:
        """The variables of a constraint, and those that say whether their objects exist."""
        known = self._scopes.get(constraint)
        if known is None:
            scope = self.space.constraints.scope(constraint)
            known = list(dict.fromkeys([*scope, *(e for v in scope for e in self._existence(v))]))
            self._scopes[constraint] = known
        return known

    def _existence(self, variable: int) -> list[int]:
        """The variables that say whether the objects of a variable exist."""
        bits = int(self.space.constraints.presence[variable])
        return [v for group, (v, _) in enumerate(self.space.constraints.exists) if bits >> group & 1]

    def _explained(self, decisions: list[Decision], variable: int, mask: int, what: str) -> Explanation:
        changes, _ = self._recorded(decisions)
        chain = [i for i in self._chain(changes, variable, mask) if changes[i, CAUSE] != DECISION]
        steps = []
        state = self.space.constraints.initial.copy()
        shown, done = chain[-MOST_STEPS:], 0
        for i in shown:
            state[changes[done:i, VARIABLE]] = changes[done:i, AFTER]
            done = i
            steps.append(self._step(Change(*changes[i].tolist()), state))
        if not chain:
            emptied = [variable] if variable >= 0 else np.nonzero(self.space.constraints.initial == 0)[0].tolist()[:1]
            steps = [step for v in emptied for step in self._before_propagation(v, mask if variable >= 0 else 0xFFFF)]
        elif not decisions:
            read = {v for i in shown for v in self.space.constraints.scope(int(changes[i, CAUSE]))}
            steps = [s for v in sorted(read) for s in self._before_propagation(v, 0xFFFF)][:MOST_STEPS] + steps
        return Explanation(what, tuple(self.space.describe(v, m) for v, m in decisions), tuple(steps))

    def _step(self, change: Change, state: Masks) -> Step:
        lost = self.space.describe(change.variable, change.before & ~change.after)
        rules = self.space.rules_of(change.constraint, change.variable, change.before, change.after, state)
        return Step(lost, tuple(rules))

    def _before_propagation(self, variable: int, mask: int) -> list[Step]:
        """Values that a rule about one choice alone removes."""
        return [
            Step(self.space.describe(v, removed & mask), (self.space.rules[rule],))
            for v, removed, rule in self.space.unary
            if v == variable and removed & mask
        ]


def _taken(changes: Changes, variable: int, mask: int) -> Integers:
    """Which changes took one of these values from a variable."""
    v, before, after, _ = changes.T
    return np.nonzero((v == variable) & (before & ~after & mask != 0))[0].astype(np.int32)
