"""The benchmark's exhaustive search and black box, on programs that are tables."""

from __future__ import annotations

import importlib.util
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.bench.tune import black_box
from kernelwright.bench.tune.measured_program import MOST_ENUMERATED, MeasuredProgram
from tests.versions.table_programs import Guard, Leaf, Node, TableProgram, exhaustive, monotone_occasion, shape


def random_nodes(seed: int) -> list[Node]:
    generator = random.Random(seed)
    forest = shape(generator.randrange(1, 4), generator)
    crossovers = {name: generator.choice((0, 5, 20)) for name, _, _ in forest}
    repeats = generator.randrange(1, 3)
    return [monotone_occasion(forest, 0, crossovers, generator, generator.randrange(1, 10**6)) for _ in range(repeats)]


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_paths_are_enumerated(seed: int) -> None:
    """As all assignments of thresholds are, one by one, by another program."""
    nodes = random_nodes(seed)
    measured = MeasuredProgram(TableProgram({"a": nodes}))
    measured.tuned(("a",))
    found = measured.least_us("a")
    assert found is not None and found[1] == exhaustive({"a": nodes}).best["a"]


def test_too_many_paths_are_not_enumerated() -> None:
    nodes: list[Node] = [Guard(f"t{n}", 4, Leaf(1.0), Leaf(2.0)) for n in range(7)]
    measured = MeasuredProgram(TableProgram({"a": nodes}))
    measured.tuned(("a",))
    assert MOST_ENUMERATED < 2**7 and measured.least_us("a") is None


@pytest.mark.skipif(importlib.util.find_spec("opentuner") is None, reason="OpenTuner is not installed")
def test_the_black_box_finds_what_a_small_table_has() -> None:
    nodes: list[Node] = [Guard("t1", 10, Leaf(3.0), Guard("t2", 50, Leaf(2.0), Leaf(9.0)))]
    measured = MeasuredProgram(TableProgram({"a": nodes, "b": nodes}))
    tuning = measured.tuned(("a", "b"))
    assert sum(d.tuned_us for d in tuning.datasets) == 4.0
    found = black_box.searched(measured, ("a", "b"), 4.0, 1e9, 1)
    assert found.best_us == 4.0 and found.at_equal is not None
    assert found.at_equal.runs <= found.at_end.runs <= 6 and found.at_end.asked <= black_box.MOST_ASKED
    again = black_box.searched(measured, ("a", "b"), 4.0, 1e9, 1)
    assert (again.at_end.asked, again.at_end.runs) == (found.at_end.asked, found.at_end.runs)
    assert black_box.searched(measured, ("a", "b"), 4.0, 0.0, 1).at_end.asked == 1
