"""The solver's limits: in its own units of work, so that an answer depends on the question alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernelwright.prove.obligations import solver
from kernelwright.prove.obligations.solver import Budget, Found, check, nearest, possible, prove
from kernelwright.prove.obligations.world import z3


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))


def injective() -> tuple[list[Any], Any]:
    """Whether row * n + column tells places of a matrix apart: some work for the solver."""
    z = z3()
    a, b, c, d, n = z.Ints("a b c d n")
    facts = [n > 0, a >= 0, c >= 0, b >= 0, b < n, d >= 0, d < n, z.Or(a != c, b != d)]
    return facts, a * n + b != c * n + d


def asked(budget: Budget) -> Found:
    return prove(*injective(), budget)


def test_an_answer_takes_the_same_work_whatever_was_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = [Budget(), Budget()]
    monkeypatch.setattr(solver, "_read", lambda entry: None)  # nothing is remembered
    assert asked(budgets[0]).answer == "proven"
    z = z3()
    names = [z.Int(f"other {n}") for n in range(40)]
    assert possible([z.Sum(names) == 7, *(x >= 0 for x in names)], Budget())
    assert asked(budgets[1]).answer == "proven"
    assert budgets[0].used == budgets[1].used > 1000


def test_what_is_remembered_is_charged_as_if_it_were_asked() -> None:
    first, second = Budget(), Budget()
    assert asked(first).answer == asked(second).answer == "proven"
    assert first.used == second.used
    assert first.seconds == second.seconds > 0


def test_less_work_than_was_needed_takes_less_time() -> None:
    whole, part = Budget(), Budget(500, 500)
    asked(whole)
    asked(part)
    assert 0 < part.seconds < whole.seconds


@pytest.mark.parametrize("first", [500, 10_000_000])
def test_a_limit_means_the_same_whatever_is_remembered(first: int) -> None:
    asked(Budget(first, first))
    assert asked(Budget(500, 500)).answer == "unknown"
    assert asked(Budget()).answer == "proven"
    assert asked(Budget(0)).answer == "unknown"


def test_a_clock_that_runs_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 10**9, 10**5))
    monkeypatch.setattr(solver.time, "thread_time", lambda: float(next(ticks)))
    found = asked(Budget())
    assert found.answer == "proven" and found.seconds >= 10**5


def test_guesses_that_do_not_follow_are_named() -> None:
    z = z3()
    x = z.Int("x")
    assert check([x >= 3], [x >= 1, x >= 2], Budget()) == set()
    assert check([x >= 3], [x >= 1, x >= 4], Budget()) == {1}
    assert check([x >= 3], [x >= 1, x >= 4], Budget(0)) == {0, 1}


def test_a_counterexample_names_what_a_launch_decides() -> None:
    z = z3()
    x, y = z.Int("argument 2"), z.Int("block.x")
    found = prove(
        [x >= 5, x <= 5, y == x + 1], y == 7, Budget(), {"argument 2": x, "block.x": y, "grid.x": z.IntVal(9)}
    )
    assert found.answer == "refuted" and dict(found.model) == {"argument 2": 5, "block.x": 6, "grid.x": 9}


def test_a_counterexample_near_a_launch_that_has_numbers_of_every_type() -> None:
    """As of adam(float *p, ..., float decay, bool decays, int n): a real argument's bits are no value of its symbol."""
    z = z3()
    n, decays, decay = z.Int("n"), z.Bool("decays"), z.Const("decay", z.DeclareSort("float"))
    found = prove(
        [n >= 0, decays],
        decay == z.Const("another", decay.sort()),
        Budget(),
        {"n": n, "decay": decay, "decays": decays},
    )
    assert found.answer == "refuted" and found.open is not None
    assert nearest(found.open, {"decay": 0x3F800000, "decays": 1, "n": 5}, Budget()) == (("n", 5),)


def test_contradicting_facts_prove_nothing() -> None:
    z = z3()
    x = z.Int("x")
    assert prove([x > 1, x < 1], x == 7, Budget()).answer == "unknown"
    assert prove([x > 1, x < 1], x == 7, Budget(), reached=False).answer == "proven"
