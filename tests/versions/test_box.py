"""Intervals and boxes of thresholds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.versions.box import Box, Interval, box_of, contains, intersection, merged
from kernelwright.versions.program import INFINITE, Compared

BOUND = st.none() | st.integers(-5, 5)
BOX = st.dictionaries(st.sampled_from("ab"), st.builds(Interval, BOUND, BOUND).filter(lambda i: not i.is_empty))
POINTS = [{"a": a, "b": b} for a in range(-7, 8) for b in range(-7, 8)]


@pytest.mark.parametrize(
    ("interval", "value"),
    [
        (Interval(100, 4000), 632),
        (Interval(10, 11), 11),
        (Interval(-8, 2), -3),
        (Interval(50, None), INFINITE),
        (Interval(None, 40), 20),
        (Interval(None, 1), 1),
        (Interval(None, -4), -8),
        (Interval(None, 1 - INFINITE), -INFINITE),
        (Interval(None, 0), 0),
        (Interval(-100000, -300), -5477),
        (Interval(-301, -300), -300),
        (Interval(-4000, 0), -2000),
        (Interval(-50, None), INFINITE),
        (Interval(0, 100), 50),
    ],
)
def test_values_keep_a_margin(interval: Interval, value: int) -> None:
    assert interval.value() == value and value in interval


def test_an_empty_interval_has_no_value() -> None:
    with pytest.raises(ValueError, match="no threshold"):
        Interval(5, 5).value()


def test_a_run_is_a_box() -> None:
    run = [Compared("a", 10, False), Compared("a", 90, True), Compared("a", 40, True), Compared("b", 7, False)]
    assert box_of(run, {"a": 30, "b": 8}) == {"a": Interval(10, 40), "b": Interval(7, None)}
    assert box_of(run, {"a": 30, "b": 5})["b"] == Interval(), "reached and not taken: illegal, which binds nothing"


@given(BOX, BOX)
def test_intersections_hold_what_both_hold(left: Box, right: Box) -> None:
    both = intersection(left, right)
    for point in POINTS:
        inside = both is not None and contains(both, point)
        assert inside == (contains(left, point) and contains(right, point))


@given(st.lists(BOX, max_size=4))
def test_merging_changes_nothing(boxes: list[Box]) -> None:
    fewer = merged(boxes)
    assert len(fewer) <= len(boxes)
    for point in POINTS:
        assert any(contains(b, point) for b in boxes) == any(contains(b, point) for b in fewer)
