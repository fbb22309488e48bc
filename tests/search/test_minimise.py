"""Delta debugging, single effects, pairs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.search import Budget, Effect, Minimise, Pairs, Planned, Result, SingleEffects
from tests.examples import few

Genome = tuple[str, ...]
Time = Callable[[frozenset[str]], float | None]


def run(strategy: Planned[Genome], time: Time) -> int:
    """Evaluations taken."""
    while batch := strategy.ask():
        told = []
        for genome in batch:
            value = time(frozenset(genome))
            told.append(Result(genome, None if value is None else (value,), cause="fault" if value is None else ""))
        strategy.tell(told)
    return strategy.evaluations


def genes(count: int) -> Genome:
    return tuple(f"g{n}" for n in range(count))


@settings(max_examples=few(60))
@given(
    st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.sets(st.integers(0, n - 1)), max_size=3)))
)
def test_the_result_is_one_minimal(case: tuple[int, list[set[int]]]) -> None:
    """Any of the given sets of genes suffices; the whole always does."""
    count, enough = case
    whole = genes(count)
    sets = [frozenset(f"g{n}" for n in each) for each in enough] or [frozenset(whole)]

    def time(present: frozenset[str]) -> float | None:
        return 1.0 if any(each <= present for each in sets) or present == set(whole) else 2.0

    strategy = Minimise(whole)
    run(strategy, time)
    assert strategy.result is not None
    kept = strategy.result.candidate
    assert kept == tuple(gene for gene in whole if gene in kept)  # the order stays
    assert time(frozenset(kept)) == 1.0
    assert all(time(frozenset(kept) - {gene}) == 2.0 for gene in kept)


def test_ten_of_seventy_take_few_evaluations() -> None:
    needed = {f"g{n}" for n in range(3, 70, 7)}
    strategy = Minimise(genes(70))
    evaluations = run(strategy, lambda present: 1.0 if needed <= present else None)
    assert strategy.result is not None and set(strategy.result.candidate) == needed
    assert evaluations < 160


def test_two_of_sixty_four_take_a_logarithm() -> None:
    strategy = Minimise(genes(64))
    evaluations = run(strategy, lambda present: 1.0 if {"g5", "g60"} <= present else None)
    assert strategy.result is not None and strategy.result.candidate == ("g5", "g60")
    assert evaluations < 60


def test_genes_that_stand_in_for_each_other_take_no_round_each() -> None:
    """Twenty pairs, of each either may go, but not both: one round of 40 finds that each can go, one that none can any more."""
    pairs = [{f"g{n}", f"g{n + 1}"} for n in range(0, 40, 2)]
    strategy = Minimise(genes(40))
    evaluations = run(strategy, lambda present: 1.0 if all(pair & present for pair in pairs) else None)
    assert strategy.result is not None and strategy.result.genes == 20
    assert evaluations < 150


def test_small_losses_do_not_add_up() -> None:
    """Each of 20 genes is worth 0.2 %, a tie by itself. At most 0.5 % may go in all: 2 of them."""
    strategy = Minimise(genes(20))
    run(strategy, lambda present: 1000.0 - 2 * len(present))
    assert strategy.result is not None and strategy.result.objectives is not None
    assert strategy.result.genes == 18 and strategy.result.objectives[0] <= 1.005 * 960


def test_no_objective_may_get_worse() -> None:
    strategy: Minimise[str] = Minimise(("fast", "exact", "idle"))
    while batch := strategy.ask():
        strategy.tell([Result(g, (1.0 if "fast" in g else 2.0, 0.0 if "exact" in g else 1e-9)) for g in batch])
    assert strategy.result is not None and strategy.result.candidate == ("fast", "exact")


def test_how_much_worse_is_a_choice() -> None:
    strategy: Minimise[str] = Minimise(("large", "small"), by=0.1)
    run(strategy, lambda present: 100.0 - 50 * ("large" in present) - 3 * ("small" in present))
    assert strategy.result is not None and strategy.result.candidate == ("large",)


def test_what_is_kept_stays_in_its_place_and_is_asked_about_with_every_part() -> None:
    strategy: Minimise[str] = Minimise(("idle", "guard", "fast", "other guard"), keep=lambda gene: "guard" in gene)
    while batch := strategy.ask():
        assert all({"guard", "other guard"} <= set(each) for each in batch)
        strategy.tell([Result(each, (1.0 if "fast" in each else 2.0,)) for each in batch])
    assert strategy.result is not None and strategy.result.candidate == ("guard", "fast", "other guard")


def test_nothing_matters_and_nothing_is_there() -> None:
    for whole in (genes(7), genes(1), ()):
        strategy = Minimise(whole)
        run(strategy, lambda present: 1.0)
        assert strategy.result is not None and strategy.result.candidate == ()


def test_a_budget_leaves_what_was_reached() -> None:
    strategy = Minimise(genes(64), budget=Budget(evaluations=20))
    assert run(strategy, lambda present: 1.0 if "g5" in present and "g60" in present else None) <= 20
    assert strategy.result is not None and {"g5", "g60"} <= set(strategy.result.candidate)


def test_what_is_rejected_cannot_be_minimised() -> None:
    strategy: Minimise[str] = Minimise(("a",))
    with pytest.raises(ValueError, match=r"is rejected \(fault\)"):
        run(strategy, lambda present: None)
    assert strategy.result is None


# --- effects and pairs


def landscape(present: frozenset[str]) -> float | None:
    """a: 10 % always. b and c: 20 % together, nothing alone. d needs a. e and f: the same 5 %. x and y exclude each other."""
    if ("d" in present and "a" not in present) or {"x", "y"} <= present:
        return None
    return (
        100.0
        - 10 * ("a" in present)
        - 20 * ({"b", "c"} <= present)
        - 4 * ("d" in present)
        - 5 * bool({"e", "f"} & present)
    )


def test_single_effects() -> None:
    strategy = SingleEffects(("a", "b", "c", "d", "e", "f"))
    assert run(strategy, landscape) == 2 + 2 * 6
    a, b, c, d, e, f = strategy.effects
    assert a == Effect("a", pytest.approx(0.1), None)  # without it d fails
    assert b == Effect("b", 0.0, pytest.approx(0.2)) and c == Effect("c", 0.0, pytest.approx(0.2))
    assert d == Effect("d", None, pytest.approx(0.04))
    assert e == Effect("e", pytest.approx(0.05), 0.0) and f.within == 0.0


def test_pairs() -> None:
    whole = ("a", "b", "c", "d", "e", "f", "x", "y")
    strategy = Pairs(whole)
    assert run(strategy, landscape) == 1 + 8 + 28
    found = {(pair.a, pair.b): pair for pair in strategy.pairs}
    assert list(found) == list(combinations(whole, 2))
    relations = {two: pair.relation for two, pair in found.items() if pair.relation != "independent"}
    assert relations == {
        ("a", "d"): "only together",
        ("b", "c"): "only together",
        ("e", "f"): "less together",
        ("x", "y"): "exclude each other",
    }
    assert found["a", "d"].alone == (pytest.approx(0.1), None) and found["a", "d"].together == pytest.approx(0.14)
    assert found["b", "d"].together is None  # d still lacks a: b has no part in that


def test_more_than_the_sum() -> None:
    strategy = Pairs(("a", "b"))
    run(strategy, lambda present: {0: 100.0, 1: 95.0, 2: 80.0}[len(present)])
    assert [pair.relation for pair in strategy.pairs] == ["more together"]
