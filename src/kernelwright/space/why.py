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
from kernelwright.space.engine.constraints import Masks
from kernelwright.space.engine.solver import DECISION, Change, Solver
from kernelwright.space.lang.declaration import Rule
from kernelwright.space.lang.ground_space import GroundSpace

Decision = tuple[int, int]
"""A variable, and the mask of the values that are kept."""
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
        state = self.solver.root()
        if state is None or (variable >= 0 and not int(state[variable]) & mask):
            return []
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

    def _recorded(self, decisions: Sequence[Decision]) -> tuple[list[Change], list[int], bool]:
        """Every change, the decision (its number; -1 before the first) during which it happened, and whether all was possible."""
        held, state, changes = self.solver.recorded(None)
        turns = [-1] * len(changes)
        for number, (v, kept) in enumerate(decisions):
            if not held or not int(state[v]) & kept:
                return changes, turns, False
            held, state, more = self.solver.recorded(state, v, kept)
            changes += more
            turns += [number] * len(more)
        return changes, turns, held

    def _involved(self, decisions: Sequence[Decision], variable: int, mask: int) -> set[int]:
        """Numbers of decisions from which the recorded propagation came to the value's removal."""
        changes, turns, _ = self._recorded(decisions)
        found = {turns[i] for i in self._chain(changes, variable, mask) if changes[i].constraint == DECISION}
        if variable < 0 or not any(c.variable == variable and c.before & ~c.after & mask for c in changes):
            found.add(len(decisions) - 1)
        return {number for number in found if number >= 0}

    def _chain(self, changes: list[Change], variable: int, mask: int) -> list[int]:
        """The changes that the removal of a value goes back to, in their order; of an impossible state those that emptied a domain."""
        c = self.space.constraints
        by_variable: dict[int, list[int]] = {}
        for i, change in enumerate(changes):
            by_variable.setdefault(change.variable, []).append(i)
        if variable < 0:
            todo = [i for i, change in enumerate(changes) if not change.after][:1] or [len(changes) - 1]
        else:
            todo = self._removals(by_variable, changes, variable, mask)
        seen: set[int] = set()
        while todo:
            at = todo.pop()
            if at in seen or at < 0:
                continue
            seen.add(at)
            if changes[at].constraint == DECISION:
                continue
            for source in c.scope(changes[at].constraint):
                # What had been taken from the constraint's other variables before.
                todo += [i for i in by_variable.get(source, ()) if i < at and i not in seen]
                todo += [i for v in self._existence(source) for i in by_variable.get(v, ()) if i < at and i not in seen]
        return sorted(seen)

    def _removals(
        self, by_variable: dict[int, list[int]], changes: list[Change], variable: int, mask: int
    ) -> list[int]:
        found = [i for i in by_variable.get(variable, ()) if changes[i].before & ~changes[i].after & mask]
        for v in self._existence(variable):
            found += by_variable.get(v, ())
        return found

    def _existence(self, variable: int) -> list[int]:
        """The variables that say whether the objects of a variable exist."""
        bits = int(self.space.constraints.presence[variable])
        return [v for group, (v, _) in enumerate(self.space.constraints.exists) if bits >> group & 1]

    def _explained(self, decisions: list[Decision], variable: int, mask: int, what: str) -> Explanation:
        changes, _, _ = self._recorded(decisions)
        chain = [i for i in self._chain(changes, variable, mask) if changes[i].constraint != DECISION]
        steps = []
        state = self.space.constraints.initial.copy()
        shown = set(chain[-MOST_STEPS:])
        for i, change in enumerate(changes):
            if i in shown:
                steps.append(self._step(change, state))
            state[change.variable] = change.after
        if not chain:
            emptied = [variable] if variable >= 0 else np.nonzero(self.space.constraints.initial == 0)[0].tolist()[:1]
            steps = [step for v in emptied for step in self._before_propagation(v, mask if variable >= 0 else 0xFFFF)]
        elif not decisions:
            read = {v for i in shown for v in self.space.constraints.scope(changes[i].constraint)}
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
