"""Which blocks are watched, and what a patch of them says of a grid: against the union of what all its blocks ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.device.timing_model.counters import BlockTrace
from kernelwright.device.timing_model.neighbours import Floats, over_grid, patch_of, watched
from tests.examples import few
from tests.model.build import paths


def traces(grid: tuple[int, int, int]) -> list[BlockTrace]:
    return [paths(number) for number in watched(grid)]


def asked_by(grid: tuple[int, int, int], kinds: Sequence[str]) -> Callable[[int], set[tuple[object, ...]]]:
    """The lines of a block: some of its own, of its row, of its column, of all, and with its right and lower neighbour."""

    def lines(number: int) -> set[tuple[object, ...]]:
        column, row = number % grid[0], number // grid[0]
        names = {
            "own": [(number,)],
            "row": [(row,)],
            "column": [(column,)],
            "all": [()],
            "halo": [(column, row), (column + 1, row)],
            "lower": [(column, row), (column, row + 1)],
        }
        return {(kind, index, *name) for index, kind in enumerate(kinds) for name in names[kind]}

    return lines


@pytest.mark.parametrize(
    ("grid", "patch"),
    [
        ((100, 1, 1), (8, 1)), ((10_000, 1, 1), (8, 1)), ((100, 50, 1), (8, 2)), ((8, 50, 2), (8, 2)), ((4, 50, 1), (4, 2)),
        ((2, 50, 3), (2, 4)), ((1, 50, 1), (1, 8)), ((1, 1, 50), (1, 8)), ((3, 50, 1), (3, 2)), ((100, 2, 1), (8, 2)),
    ],
)  # fmt: skip
def test_a_patch_and_some_spread_over_the_grid(grid: tuple[int, int, int], patch: tuple[int, int]) -> None:
    numbers = watched(grid)
    assert numbers == tuple(sorted(set(numbers))) and {0, grid[0] * grid[1] * grid[2] - 1} <= set(numbers)
    assert len(numbers) <= patch[0] * patch[1] + 8
    found = patch_of(traces(grid), grid)
    assert (found.columns, found.rows) >= patch
    assert patch[0] * patch[1] <= len(found.blocks)


def test_small_grids_are_watched_whole() -> None:
    for grid in ((5, 1, 1), (16, 1, 1), (4, 4, 1), (8, 3, 1), (1, 2, 3)):
        numbers = watched(grid)
        assert numbers == tuple(range(grid[0] * grid[1] * grid[2]))
        found = patch_of(traces(grid), grid)
        assert (found.columns, found.rows) == (grid[0], grid[1] * grid[2])


def test_a_row_does_not_go_on_in_the_next() -> None:
    """Blocks 6 to 9 of rows of 8: two at the end of a row, two at the beginning of the next."""
    found = patch_of([paths(number) for number in (6, 7, 8, 9)], (8, 4, 1))
    assert [block.number for block in found.blocks] == [6, 7] and found.columns == 2


def test_nothing_watched_is_no_patch() -> None:
    with pytest.raises(ValueError, match="no thread block"):
        patch_of([], (8, 1, 1))


@settings(max_examples=few(80), deadline=None)
@given(
    st.tuples(st.integers(1, 30), st.integers(1, 12), st.integers(1, 2)),
    st.lists(st.sampled_from(("own", "row", "column", "all", "halo", "lower")), min_size=1, max_size=5),
)
def test_what_fits_into_the_cache_is_fetched_once(grid: tuple[int, int, int], kinds: list[str]) -> None:
    """Whatever blocks share with their row, column, neighbours or all others: the lines of the grid, exactly."""
    lines = asked_by(grid, kinds)

    def missed(blocks: Sequence[BlockTrace]) -> Floats:
        return np.array([float(len(set().union(*(lines(block.number) for block in blocks))))])

    every = set().union(*(lines(number) for number in range(grid[0] * grid[1] * grid[2])))
    found = over_grid(patch_of(traces(grid), grid), missed, grid, at_once=4, capacity=1e9)
    assert found.tolist() == pytest.approx([len(every)])


def test_rows_that_do_not_run_at_once_fetch_again_what_does_not_stay() -> None:
    """A matrix product: rows of 64 blocks, each with a tile of its row and one of its column, of 100 lines each."""
    grid = (64, 32, 1)

    def missed(blocks: Sequence[BlockTrace]) -> Floats:
        columns, rows = ({f(block.number, 64) for block in blocks} for f in (int.__mod__, int.__floordiv__))
        return np.array([100.0 * (len(columns) + len(rows))])

    patch = patch_of(traces(grid), grid)
    compulsory = 100 * (64 + 32)
    assert over_grid(patch, missed, grid, at_once=64, capacity=6_500).tolist() == pytest.approx([compulsory])
    # A row asks for 6,500 lines. Of those of the columns nothing, or half, is still there when the next group of rows comes.
    for at_once, together in ((64, 1), (128, 2), (256, 4), (32, 1)):
        again = 100 * 64 * (32 / together - 1)
        for capacity, stays in ((0, 0.0), (3_250, 0.5)):
            found = over_grid(patch, missed, grid, at_once, capacity)
            assert found.tolist() == pytest.approx([compulsory + (1 - stays) * again])


def test_figures_never_fall_below_those_of_the_patch() -> None:
    """A cache too small for the half patch and large enough for the whole: less is missed of more blocks."""
    grid = (64, 32, 1)
    for wide, high in product((3.0, 1.0), (3.0, 1.0)):

        def missed(blocks: Sequence[BlockTrace], wide: float = wide, high: float = high) -> Floats:
            columns, rows = (len({f(block.number, 64) for block in blocks}) for f in (int.__mod__, int.__floordiv__))
            return np.array([10.0 * (wide if columns < 8 else 1) * (high if rows < 2 else 1)])

        assert over_grid(patch_of(traces(grid), grid), missed, grid, 64, 1e9)[0] >= 10.0
