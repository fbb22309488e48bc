"""Questions to the solver, each with a limit of time, all together with a budget. Unknown never counts as proven."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kernelwright.prove.obligations.world import Expr, z3

QUERY_S = 2.0
VARIANT_S = 30.0

Answer = Literal["proven", "refuted", "unknown"]


@dataclass(eq=False)
class Budget:
    """What a variant may take, in seconds."""

    seconds: float = VARIANT_S
    query_s: float = QUERY_S
    began: float = field(default_factory=time.monotonic)
    asked: float = 0.0
    """Seconds spent in the solver."""

    @property
    def spent(self) -> bool:
        return time.monotonic() - self.began >= self.seconds

    def part(self, share: float) -> Budget:
        """A budget of its own, of what is left of this one at most."""
        left = self.seconds - (time.monotonic() - self.began)
        return Budget(min(left, share * self.seconds), self.query_s)

    @property
    def left_ms(self) -> int:
        left = self.seconds - (time.monotonic() - self.began)
        return max(0, int(1000 * min(self.query_s, left)))


@dataclass(frozen=True)
class Found:
    """``model``: values of the inputs that make the goal false, by name."""

    answer: Answer
    seconds: float
    model: tuple[tuple[str, int], ...] = ()
    why: str = ""


def possible(facts: Sequence[Expr], budget: Budget) -> bool:
    """Whether facts can hold all at once; unknown is no."""
    z = z3()
    solver = z.Solver()
    solver.set("timeout", max(budget.left_ms, 1))
    solver.add(*facts)
    return bool(solver.check() == z.sat)


def prove(
    facts: Sequence[Expr],
    goal: Expr,
    budget: Budget,
    inputs: dict[str, Expr] | None = None,
    *,
    reached: bool = True,
) -> Found:
    """Whether the goal follows from the facts. Facts that cannot hold all at once prove nothing, unless ``reached`` is false: what
    is never reached needs no proof, but a mistake in the facts would look the same."""
    began = time.monotonic()
    if budget.left_ms == 0:
        return Found("unknown", 0.0, why="the solver's time is spent")
    z = z3()
    solver = z.Solver()
    solver.set("timeout", budget.left_ms)
    solver.add(*facts)
    solver.push()
    solver.add(z.Not(goal))
    answer = solver.check()
    model: tuple[tuple[str, int], ...] = ()
    why = ""
    found: Answer = "unknown"
    if answer == z.sat:
        found, made = "refuted", solver.model()
        values = {name: made.eval(value) for name, value in (inputs or {}).items()}
        model = tuple((name, v.as_long()) for name, v in values.items() if z.is_int_value(v))
        why = "there are values that make it false"
    elif answer == z.unsat:
        solver.pop()
        solver.set("timeout", max(budget.left_ms, 1))
        is_reached = not reached or solver.check() == z.sat
        found = "proven" if is_reached else "unknown"
        why = "" if is_reached else "nothing shows that it is ever reached"
    else:
        why = "the solver's time is spent"
    took = time.monotonic() - began
    budget.asked += took
    return Found(found, took, model, why)


GUESS_S = 0.3
"""For a question about guesses, of which there are many."""


def check(facts: Sequence[Expr], goals: Sequence[Expr], budget: Budget) -> set[int]:
    """The numbers of goals that are not shown to follow from the facts, some of them if there are any; empty when all follow."""
    z = z3()
    if budget.left_ms == 0:
        return set(range(len(goals)))
    began = time.monotonic()
    solver = z.Solver()
    solver.set("timeout", min(budget.left_ms, int(1000 * GUESS_S)))
    solver.add(*facts)
    solver.add(z.Not(z.And(*goals)))
    answer = solver.check()
    budget.asked += time.monotonic() - began
    if answer == z.unsat:
        return set()
    if answer != z.sat:
        return set(range(len(goals)))
    model = solver.model()
    broken = {n for n, goal in enumerate(goals) if z.is_false(model.eval(goal, model_completion=True))}
    return broken or set(range(len(goals)))
