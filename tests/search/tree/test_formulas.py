"""The formulas, against values computed by hand."""

from __future__ import annotations

import math

import pytest

from kernelwright.search.tree.formulas import bound_weights, near_bound_weights, tag_scores, uct_scores


def test_threshold_ascent_by_hand() -> None:
    """Two children, 4 and 2 visits, the 2 best times of all are 3 and 4: one success each. a = ln(2 * 6 * 2) = 3.178."""
    scores = tag_scores([4, 2], [[3.0, 9.0], [4.0, 8.0]], kept=2)
    a = 3.1780538303479458
    up = 1 + a + math.sqrt(2 * a + a * a)
    assert scores == pytest.approx([up / 4, up / 2])
    assert scores == pytest.approx([2.0587, 4.1173], abs=1e-4)
    assert tag_scores([4, 2], [[3.0], [4.0]], kept=1)[1] == pytest.approx(2 * a / 2)  # no success: (a + a) / n


def test_a_larger_delta_is_greedier() -> None:
    """With a = 0 the score is the share of successes."""
    assert tag_scores([4, 2], [[1.0, 2.0, 3.0], [9.0]], kept=3, delta=1e9) == pytest.approx([0.75, 0.0])


def test_upper_confidence_bounds_by_hand() -> None:
    scores = uct_scores([3, 1], [[10.0], [20.0]], best=10.0, exploration=2.0)
    assert scores == pytest.approx([1 + 2 * math.sqrt(math.log(4) / 3), 0.5 + 2 * math.sqrt(math.log(4))])
    assert uct_scores([1, 1], [[], [5.0]], best=5.0, exploration=0.0) == [0.0, 1.0]


def test_weights_of_a_descent() -> None:
    assert bound_weights([1.0, 4.0, 7.0], 5.0) == [4.0, 1.0, 0.0]
    assert bound_weights([1.0, 4.0], math.inf) == pytest.approx([1.0, 0.25], rel=1e-5)


def test_weights_near_the_least_bound() -> None:
    assert near_bound_weights([2.0, 2.2, 4.0], width=0.1) == pytest.approx([1.0, math.exp(-1), math.exp(-10)], rel=1e-4)
    assert near_bound_weights([0.0, 0.0], 0.1) == near_bound_weights([1.0, 9.0], math.inf) == [1.0, 1.0]
