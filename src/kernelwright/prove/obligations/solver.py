"""Questions to the solver, each with a limit of work, all together with a budget. Unknown never counts as proven.

Limits are in the solver's own resource units, not in seconds: the same question has the same answer on a busy machine. Each question is
handed over as text, to a context of its own, so that its answer depends on nothing that was asked before; answers are kept by that text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, Literal

from kernelwright.cache import Cache, content_key
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.world import Expr, z3

UNITS_PER_S = 1_000_000
"""About what a core of 2024 does; measured on the obligations of the suite (0.3 to 4 million)."""
QUERY_UNITS = 2 * UNITS_PER_S
VARIANT_UNITS = 30 * UNITS_PER_S
GUESS_UNITS = 3 * UNITS_PER_S // 10
"""For a question about guesses, of which there are many."""

Answer = Literal["proven", "refuted", "unknown"]


@dataclass(eq=False)
class Budget:
    """What a variant may take, in the solver's resource units."""

    units: int = VARIANT_UNITS
    query_units: int = QUERY_UNITS
    used: int = 0
    seconds: float = 0.0
    """Of processor time spent in the solver, for people to read; nothing is decided by it. An answer that was kept counts what it took
    when it was found."""

    @property
    def left(self) -> int:
        """Resource units that may still be used; 0 when more was used than there were."""
        return max(0, self.units - self.used)

    @property
    def spent(self) -> bool:
        """Whether no units are left."""
        return self.left == 0

    def charge(self, other: Budget) -> None:
        """What another budget used is this one's, too."""
        self.used += other.used
        self.seconds, other.seconds = self.seconds + other.seconds, 0.0


@dataclass(frozen=True, eq=False)
class OpenGoal:
    """What would refute a goal: facts, the goal's negation among them; and the symbols that a launch decides, by name."""

    facts: tuple[Expr, ...]
    inputs: dict[str, Expr]


@dataclass(frozen=True)
class Found:
    """``model``: values of the inputs that make the goal false, by name."""

    answer: Answer
    seconds: float
    model: tuple[tuple[str, int], ...] = ()
    why: str = ""
    open: OpenGoal | None = None
    """Of what was not proven."""


@dataclass(frozen=True)
class Solved:
    """What the solver said: ``sat``, ``unsat`` or ``unknown``, in so many units; with the numbers in its model."""

    said: str
    units: int
    numbers: dict[str, int]
    truths: dict[str, bool]
    seconds: float = 0.0
    """Of processor time that it took when it was asked."""


def possible(facts: Sequence[Expr], budget: Budget) -> bool:
    """Whether facts can hold all at once; unknown is no."""
    return _solve(facts, budget).said == "sat"


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
    before = budget.seconds
    if budget.spent:
        return Found("unknown", 0.0, why=SPENT)
    goal_is_open = OpenGoal((*facts, z3().Not(goal)), inputs or {})
    solved = _solve(goal_is_open.facts, budget)
    if solved.said == "sat":
        model = _numbers(inputs or {}, solved)
        return Found("refuted", budget.seconds - before, model, REFUTED, goal_is_open)
    if solved.said != "unsat":
        return Found("unknown", budget.seconds - before, why=SPENT, open=goal_is_open)
    is_reached = not reached or possible(facts, budget)
    took = budget.seconds - before
    return Found("proven", took) if is_reached else Found("unknown", took, why="nothing shows that it is ever reached")


SPENT = "the solver's work is spent"
REFUTED = "there are values that make it false"


def nearest(goal: OpenGoal, wanted: Mapping[str, int], budget: Budget) -> tuple[tuple[str, int], ...]:
    """Values of the inputs that refute a goal, those of ``wanted`` as far as that can be: its inputs are given their values one after
    another, in its order; first all but the arguments' at once, which makes most questions easy ones. Nothing where no such values are
    found."""
    z = z3()
    met = _parts(goal.facts)
    facts, inputs = list(goal.facts), {}
    for name, e in goal.inputs.items():
        if z.is_const(e) or e.get_id() not in met:
            inputs[name] = e
        else:  # a model says what a symbol is
            inputs[name] = z.Const(f"the input {name}", e.sort())
            facts.append(inputs[name] == e)
    given = {n: _has(inputs[n], value) for n, value in wanted.items() if n in inputs and _is_open(inputs[n])}
    fixed = [fact for name, fact in given.items() if not name.startswith("argument")]
    solved = _solve([*facts, *fixed], budget)
    if solved.said == "sat":
        facts += fixed
    else:
        solved = _solve(facts, budget)
        if solved.said != "sat":
            return ()
    for fact in given.values():
        tried = _solve([*facts, fact], budget)
        if tried.said == "sat":
            facts, solved = [*facts, fact], tried
    return _numbers(inputs, solved)


def _is_open(e: Expr) -> bool:
    """Whether an input can be given a number: a floating-point argument cannot, as its sort is no more than a name."""
    z = z3()
    return bool(z.is_bool(e) or (z.is_int(e) and not z.is_int_value(e)))


def _has(e: Expr, value: int) -> Expr:
    return e == (bool(value) if z3().is_bool(e) else value)


def _parts(facts: Sequence[Expr]) -> set[int]:
    """The numbers of all expressions that facts are made of."""
    found: set[int] = set()
    waiting = list(facts)
    while waiting:
        e = waiting.pop()
        if e.get_id() not in found:
            found.add(e.get_id())
            waiting += e.children()
    return found


def _numbers(inputs: Mapping[str, Expr], solved: Solved) -> tuple[tuple[str, int], ...]:
    return tuple((name, value) for name, e in inputs.items() if (value := _number(e, solved)) is not None)


def _number(e: Expr, solved: Solved) -> int | None:
    """The value of an input in a model."""
    if z3().is_int_value(e):
        return int(e.as_long())
    return solved.numbers.get(str(e.decl().name())) if z3().is_const(e) else None


def check(facts: Sequence[Expr], goals: Sequence[Expr], budget: Budget) -> set[int]:
    """The numbers of goals that are not shown to follow from the facts, some of them if there are any; empty when all follow."""
    z = z3()
    if budget.spent:
        return set(range(len(goals)))
    names = [z.Bool(f"{GOAL}{n}") for n in range(len(goals))]
    named = [name == goal for name, goal in zip(names, goals, strict=True)]
    solved = _solve([*facts, *named, z.Not(z.And(*names))], budget, GUESS_UNITS)
    if solved.said == "unsat":
        return set()
    broken = {n for n in range(len(goals)) if solved.truths.get(f"{GOAL}{n}") is False}
    return broken or set(range(len(goals)))


GOAL = "the goal "


# -- the solver itself

KIND = "solved"
FORMAT = "2"
"""Of an answer that is kept; without it are those that do not know how long they took."""


def _solve(facts: Sequence[Expr], budget: Budget, most: int | None = None) -> Solved:
    """What the solver says of the facts; ``unknown`` after so many units, or when the budget is spent."""
    limit = min(budget.left, budget.query_units, most if most is not None else budget.query_units)
    solved = _answered(_as_text(facts), limit) if limit else Solved("unknown", 0, {}, {})
    budget.used += solved.units
    budget.seconds += solved.seconds
    return solved


def _as_text(facts: Sequence[Expr]) -> str:
    solver = z3().Solver()
    solver.add(*facts)
    return str(solver.sexpr())


def _answered(text: str, limit: int) -> Solved:
    """Kept, or asked now. An answer found within a limit is one within every greater limit, too."""
    cache, key = Cache(), content_key([FORMAT, z3().get_version_string(), text])
    kept = _read(cache.get(KIND, key))
    if kept is not None and (kept.units <= limit if kept.said != "unknown" else kept.units >= limit):
        return kept if kept.said != "unknown" else _unknown_within(limit, kept)
    if kept is not None and kept.said != "unknown":
        return _unknown_within(limit, kept)
    began = time.thread_time()
    solved = _asked(text, limit)
    solved = replace(solved, seconds=time.thread_time() - began)
    cache.put(KIND, key, json.dumps(astuple(solved)).encode())
    return solved


def _unknown_within(limit: int, kept: Solved) -> Solved:
    """What would be said within fewer units than those of an answer that is kept, in about its share of the time."""
    return Solved("unknown", limit, {}, {}, kept.seconds * limit / kept.units)


def _read(entry: bytes | None) -> Solved | None:
    return Solved(*json.loads(entry)) if entry is not None else None


def _asked(text: str, limit: int) -> Solved:
    z = z3()
    context = z.Context()
    solver = z.Solver(ctx=context)
    solver.set("rlimit", limit)
    solver.from_string(text)
    begun = _units(solver)
    said = str(solver.check())
    units = min(limit, max(1, _units(solver) - begun))
    if said != "sat":
        return Solved(said, limit if said == "unknown" else units, {}, {})
    numbers: dict[str, int] = {}
    truths: dict[str, bool] = {}
    model = solver.model()
    for symbol in model.decls():
        value: Any = model[symbol]
        if symbol.arity() == 0 and z.is_int_value(value):
            numbers[str(symbol.name())] = value.as_long()
        elif symbol.arity() == 0 and (z.is_true(value) or z.is_false(value)):
            truths[str(symbol.name())] = z.is_true(value)
    return Solved("sat", units, numbers, truths)


def _units(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118
