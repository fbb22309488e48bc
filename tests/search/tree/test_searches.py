"""Searches of trees small enough that every leaf is known: the oracle is brute force."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.search import Budget, Result
from kernelwright.search.strategies import DEFAULT_TREE_SEARCH, PRESETS, TREE_SEARCHES
from kernelwright.search.tree.best_first import BestFirst
from kernelwright.search.tree.decision_tree import Child, Path
from kernelwright.search.tree.leaf_search import LeafSearch
from kernelwright.search.tree.monte_carlo import tag, uct
from kernelwright.search.tree.neighbours import Neighbours
from kernelwright.search.tree.plain_descents import uniform, weighted
from tests.examples import few
from tests.search.tree.toy_trees import ToyTree, run

Make = Callable[..., LeafSearch[Any]]
ALL: list[Make] = [Neighbours, tag, uct, BestFirst, weighted, uniform]
ALL_IN_ORDER: list[Make] = [Neighbours, tag, uct, weighted, BestFirst, uniform]
COMPLETE: list[Make] = [tag, uct, BestFirst]
LARGE = (6, 5, 4, 4, 4, 3, 3, 3)
"""207,360 leaves."""


def test_the_table_has_them_all() -> None:
    assert [each.make for each in TREE_SEARCHES.values()] == ALL_IN_ORDER
    assert DEFAULT_TREE_SEARCH == "neighbours" and not set(TREE_SEARCHES) & set(PRESETS)


@settings(max_examples=few(40), deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.2, 0.7]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from(COMPLETE),
    st.integers(1, 5),
)
def test_a_tree_searched_to_its_end_gives_its_optimum(
    widths: list[int], seed: int, dead: float, share: float, make: Make, batch: int
) -> None:
    tree = ToyTree(widths, seed, share=share, dead=dead)
    search = make(tree, seed=seed, batch=batch)
    told = run(search, tree.time)
    leaves = tree.leaves()
    if not leaves:
        assert search.certificate == math.inf and search.best is None and not told
        return
    assert search.best_time == pytest.approx(tree.optimum())
    assert search.certificate == search.best_time and search.proven_gap == 0
    assert len(told) <= len(leaves)


@settings(max_examples=few(40), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.3, 0.9, 1.0]),
    st.sampled_from(ALL),
    st.integers(1, 4),
    st.floats(0, 0.5),
)
def test_the_certificate_never_claims_too_much(
    seed: int, share: float, make: Make, batch: int, rejected: float
) -> None:
    """After every answer nothing that is right is faster; it never falls, and never exceeds the best."""
    tree = ToyTree((3, 2, 3, 2), seed, share=share, dead=0.1)

    def time(path: Path) -> float | None:
        return None if hash((path, seed)) % 100 < 100 * rejected else tree.time(path)

    right = [t for t in map(time, tree.leaves()) if t is not None]
    search, before = make(tree, seed=seed, batch=batch), 0.0
    while asked := search.ask():
        search.tell([Result(path, None if (t := time(path)) is None else (t,)) for path in asked])
        assert before <= search.certificate <= min([*right, math.inf]) + 1e-9
        assert search.certificate <= search.best_time
        before = search.certificate


@pytest.mark.parametrize("make", ALL)
def test_the_same_seed_asks_the_same_and_no_leaf_twice(make: Make) -> None:
    def asked(seed: int, batch: int) -> list[Path]:
        tree = ToyTree(LARGE, 3, share=0.4, dead=0.05)
        search, found = make(tree, seed=seed, batch=batch, budget=Budget(evaluations=60)), []
        while some := search.ask():
            assert search.ask() == some
            found += some
            search.tell([Result(path, (tree.time(path),)) for path in some])
        return found

    one = asked(1, 4)
    assert one == asked(1, 4) and len(one) == 60 == len(set(one))
    assert one != asked(2, 4)


class NamedToy(ToyTree):
    """Whose decisions say what they decide: equal ones are the same decision."""

    def children(self, node: tuple[int, ...], *, bounds: bool = True) -> list[Child[Any]] | None:
        found = super().children(node, bounds=bounds)
        return found and [Child((len(node), each.decision), each.node, each.bound) for each in found]

    def time(self, path: Path) -> float:
        return super().time(tuple(each[1] if isinstance(each, tuple) else each for each in path))


def best_after(make: Make, evaluations: int, seeds: int = 7, toy: type[ToyTree] = ToyTree, **more: Any) -> float:
    """The median over seeds of the best time over the optimum."""
    found = []
    for seed in range(seeds):
        tree = toy(LARGE, seed, dead=0.02, **more)
        search = make(tree, seed=seed, budget=Budget(evaluations=evaluations))
        run(search, tree.time)
        found.append(search.best_time / tree_optimum(seed))
    return statistics.median(found)


def tree_optimum(seed: int) -> float:
    """By dynamic programming over the last decision: independent of the searches."""
    tree = ToyTree(LARGE, seed, dead=0.0)
    best = {a: tree.terms[0][a] for a in range(LARGE[0])}
    for level in range(1, len(LARGE)):
        best = {
            b: min(best[a] + tree.pairs[level - 1, a, b] for a in best) + tree.terms[level][b]
            for b in range(LARGE[level])
        }
    return 1 + min(best.values())


@pytest.mark.parametrize("make", [tag, uct])
def test_trees_with_structure_are_searched_better_than_at_random(make: Make) -> None:
    random, blind = best_after(uniform, 100), best_after(make, 100, share=0.0)
    assert best_after(make, 100, share=0.7) < blind < random


def test_neighbours_of_the_fastest_are_faster() -> None:
    """Without bounds, too."""
    random, blind = best_after(uniform, 100), best_after(Neighbours, 100, toy=NamedToy, share=0.0)
    assert best_after(Neighbours, 100, toy=NamedToy, share=0.7) < blind < random


def test_neighbours_of_a_small_tree_are_all_of_it() -> None:
    tree = ToyTree((3, 3, 2), 4)
    search = Neighbours(tree, cuts=False)
    assert len(run(search, tree.time)) == len(tree.leaves()) and search.best_time == tree.optimum()


def test_bounds_alone_beat_random_too() -> None:
    assert best_after(weighted, 60, share=0.5) < best_after(uniform, 60)


def test_best_first_expands_less_than_there_is() -> None:
    tree = ToyTree((4, 4, 4, 4, 4), 7)
    search = BestFirst(tree)
    assert len(run(search, tree.time)) < 100 and search.best_time == tree.optimum()
    assert tree.made < 4**5 / 2


def test_best_first_that_gave_nodes_up_says_so() -> None:
    tree = ToyTree(LARGE, 1, share=0.6)
    search = BestFirst(tree, most_open=16)
    run(search, tree.time)
    assert search.certificate <= tree.optimum() and search.certificate < search.best_time


def test_a_gap_and_a_budget_end_a_search() -> None:
    tree = ToyTree((4, 4, 4, 4, 4), 7, share=0.8)
    search = BestFirst(tree, gap=0.5)
    run(search, tree.time)
    assert 0 < search.proven_gap <= 0.5
    stopped = tag(tree, batch=4)
    run(stopped, tree.time, 8)
    stopped.conclude()
    assert stopped.ask() == [] and stopped.progress.evaluations == 8


def test_a_restart_forgets_times_and_keeps_what_is_closed() -> None:
    tree = ToyTree((3, 3, 3), 5, share=0.0)
    search = tag(tree, restart=4)
    told = run(search, tree.time)
    assert len(told) == 27 and search.best_time == tree.optimum()


def test_what_is_wrong_is_refused() -> None:
    tree = ToyTree((2, 2), 1)
    with pytest.raises(ValueError, match="a batch of 0"):
        tag(tree, batch=0)
    search = tag(tree)
    search.ask()
    with pytest.raises(ValueError, match="not those of the leaves asked"):
        search.tell([Result(("something else",), (1.0,))])


def test_a_tree_without_a_root_has_no_leaf() -> None:
    class Empty:
        def root(self) -> Child[int] | None:
            return None

        def children(self, node: int, *, bounds: bool = True) -> list[Child[int]] | None:
            raise AssertionError("there is no node")

    for make in ALL:
        search = make(Empty())
        assert search.ask() == [] and search.certificate == math.inf


def test_dead_ends_are_counted_and_left() -> None:
    tree = ToyTree((3, 3, 3, 3), 2, dead=0.5)
    search = uniform(tree, budget=Budget(evaluations=20))
    assert len(run(search, tree.time)) == 20
    assert search.dead_ends > 5 and search.descents >= 20 and search.nodes > 100
