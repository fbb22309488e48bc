"""The tie rule and the grid it is rounded to."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search import TIE, Result, is_gain, preferred
from kernelwright.search.ties import Best, cell

RESULTS = st.builds(
    lambda time, instructions, genes: Result(("g",) * genes, (time / 1000,), instructions),
    st.integers(990, 1010),
    st.integers(0, 3),
    st.integers(0, 3),
)


def made(time: float, instructions: float, genes: int) -> Result[tuple[int, ...]]:
    return Result(tuple(range(genes)), (time,), instructions)


def test_half_a_per_cent_is_a_tie() -> None:
    assert is_gain(0.994, 1.0) and not is_gain(0.996, 1.0) and not is_gain(1.0, 1.0)
    assert is_gain(0.996, 1.0, tie=0.001) and is_gain(-1.01, -1.0) and not is_gain(-1.004, -1.0)


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        (made(0.990, 9, 9), made(1.000, 1, 1)),  # a gain, whatever it took
        (made(1.000, 5, 9), made(0.996, 6, 1)),  # a tie: fewer instructions
        (made(1.000, 5, 1), made(0.996, 5, 2)),  # a tie there too: fewer genes
        (made(0.996, 5, 1), made(1.000, 5, 1)),  # a tie in everything: the faster one
    ],
)
def test_who_wins(winner: Result[tuple[int, ...]], loser: Result[tuple[int, ...]]) -> None:
    assert preferred([winner, loser]) is preferred([loser, winner]) is winner


def test_ties_do_not_add_up() -> None:
    """Each is a tie with the next, with fewer instructions: a chain of them must not lose 2 %."""
    chain = [made(1.0 + 0.004 * n, 100 - n, 1) for n in range(6)]
    assert preferred(chain) is chain[1]
    assert all(preferred([a, b]) is b for a, b in pairwise(chain))


@given(st.lists(RESULTS, min_size=1, max_size=30))
def test_best_so_far_is_the_preferred_of_all(results: list[Result[tuple[str, ...]]]) -> None:
    best: Best[Result[tuple[str, ...]]] = Best()
    for n, result in enumerate(results, start=1):
        best.offer(result)
        assert best.result == preferred(results[:n])


def test_the_order_of_offers_does_not_matter() -> None:
    results = [made(1.0, 5, 3), made(0.996, 6, 1), made(0.992, 7, 2), made(0.998, 5, 2)]
    outcomes = set()
    for order in permutations(results):
        best: Best[Result[tuple[int, ...]]] = Best()
        for result in order:
            best.offer(result)
        outcomes.add(best.result)
    assert outcomes == {preferred(results)}


def test_rejected_ones_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="rejected"):
        preferred([Result((), None, cause="fault")])


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_cells_keep_the_order_and_are_a_tie_wide(a: float, b: float) -> None:
    (low,), (high,) = cell((min(a, b),)), cell((max(a, b),))
    assert low <= high
    if low == high and a:
        assert math.isclose(a, b, rel_tol=1.01 * TIE, abs_tol=1e-299)  # what is smaller counts as that small
    if abs(a - b) > 1.01 * TIE * max(abs(a), abs(b)) and (abs(a) > 1e-290 or abs(b) > 1e-290):
        assert low < high


def test_a_cell_of_its_own_for_zero() -> None:
    assert cell((0.0, 1.0)) != cell((1e-200, 1.0)) and cell((-1e-200,)) < cell((0.0,)) < cell((1e-200,))
    assert cell((1.25, 3.0), tie=0) == (1.25, 3.0)
