"""The hypervolume, by hand, against moocore, and by its properties."""

from __future__ import annotations

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.search import hypervolume
from kernelwright.search.nsga2 import Point


def test_by_hand() -> None:
    assert hypervolume([(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], (4.0, 4.0)) == 6.0
    assert hypervolume([(1.0,), (2.0,)], (4.0,)) == 3.0
    assert hypervolume([(0.0, 0.0, 0.0)], (1.0, 2.0, 3.0)) == 6.0


def test_what_is_outside_adds_nothing() -> None:
    assert hypervolume([], (1.0, 1.0)) == 0.0
    assert hypervolume([(1.0, 0.0), (0.0, 1.0), (5.0, -5.0)], (1.0, 1.0)) == 0.0
    assert hypervolume([(0.5, 0.5), (2.0, 0.0)], (1.0, 1.0)) == 0.25


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 7, 40])
def test_against_moocore(width: int, count: int) -> None:
    cloud = np.random.default_rng(100 * width + count).random((count, width))
    cloud[: count // 3] = np.round(cloud[: count // 3], 1)  # equal coordinates
    reference = [0.9] * width
    # moocore takes two objectives and more: a second one that is always 0 up to 1 leaves the size as it is.
    theirs = moocore.hypervolume(np.column_stack([cloud, np.zeros(count)]), ref=[*reference, 1.0])
    assert hypervolume([tuple(p) for p in cloud.tolist()], tuple(reference)) == pytest.approx(theirs)


@given(st.lists(st.tuples(*[st.integers(0, 9).map(float)] * 3), max_size=12))
def test_order_and_dominated_points_do_not_matter(points: list[Point]) -> None:
    reference = (8.0, 8.0, 8.0)
    volume = hypervolume(points, reference)
    assert hypervolume(points[::-1], reference) == volume
    assert hypervolume([*points, *(tuple(x + 1 for x in p) for p in points)], reference) == volume
    by_cells = sum(
        any(all(x <= c for x, c in zip(p, cell, strict=True)) for p in points) for cell in np.ndindex(8, 8, 8)
    )
    assert volume == by_cells
