"""Breeding beside DEAP: both know the same problems, and one that is not installed is said to be so."""

from __future__ import annotations

import importlib.util
import math
import random
from typing import Any

import numpy as np
import pytest

from kernelwright.bench import breed_peers
from kernelwright.bench.breed_peers import TREES, Bout, compare, grammatical, rate, trees
from kernelwright.bench.result import Measured
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import answers_to
from kernelwright.grammar import load_problem
from kernelwright.grammar.problems import path_of


@pytest.mark.parametrize(
    ("name", "text", "function"),
    [
        ("pagie1", "pdiv((x * y), (x - 1.0f))", lambda x, y: breed_peers.protected(x * y, x - 1)),
        ("pagie1", "1.0f", lambda x, y: 1.0),
        ("vladislavleva4", "(x1 + pdiv(x5, 3.25f))", lambda a, b, c, d, e: a + breed_peers.protected(e, 3.25)),
        ("multiplexer6", "((~ a0) & d2)", lambda a0, a1, d0, d1, d2, d3: (not a0) & d2),
        ("multiplexer6", "(a1 | d3)", lambda a0, a1, d0, d1, d2, d3: a1 | d3),
    ],
)
def test_a_program_and_a_tree_are_worth_the_same(name: str, text: str, function: Any) -> None:
    problem = load_problem(path_of(name))
    (answers,) = answers_to(back_end("interpreted").runner(problem), [text])
    mine = problem.worth(answers)  # type: ignore[arg-type]
    assert mine == pytest.approx(TREES[name].worth(problem, function), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "nodes"), [("pdiv((x * y), (x - 1.0f))", 7), ("((~ a0) & d2)", 4), ("(x1 + 3.25f)", 3)]
)
def test_nodes_of_our_programs_are_counted_as_of_trees(text: str, nodes: int) -> None:
    assert len(breed_peers.NODE.findall(text)) == nodes


def test_division_is_protected() -> None:
    found = breed_peers.protected(np.array([1.0, 1.0, 0.0]), np.array([0.0, -0.0, 2.0]))
    assert found.tolist() == [1, 1, 0]


def test_ours_stops_at_the_number_of_evaluations_and_repeats() -> None:
    problem = load_problem(path_of("multiplexer6"))
    one, other = (grammatical(problem, "interpreted", 1, 700) for _ in range(2))
    assert one.evaluations == other.evaluations == 700 and one.best == other.best < 32
    assert 0 < one.evaluating_s < one.whole_s


def test_a_rate_is_of_all_runs() -> None:
    bouts = [Bout(100, 1.0, 2.0), Bout(100, 3.0, 3.0)]
    assert (rate(bouts), rate(bouts, whole=True)) == (50, 40)
    bout = Bout()
    assert [bout.judged(each, 5) for each in (None, 3.0, 4.0)] == [math.inf, 3.0, 4.0]
    assert (bout.best, bout.evaluations, bout.nodes) == (3, 3, 15)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breed_peers, "QUICK_EVALUATIONS", 20)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = Measured("breed")
    compare(result, True, lambda _: None)
    systems = [row["system"] for row in result.rows]
    assert systems[1::2] == ["DEAP: not installed"] * 3 and all(each.startswith("ours, ") for each in systems[::2])
    assert not result.promises and any("pip install deap" in note for note in result.notes)


def test_deap_breeds_trees_of_the_problems() -> None:
    pytest.importorskip("deap")
    random.seed(5)
    before = random.getstate()
    for name in TREES:
        problem = load_problem(path_of(name))
        one, other = (trees(problem, 3, 700) for _ in range(2))
        assert one.evaluations == 700 and one.best == other.best < math.inf
        assert 0 < one.evaluating_s < one.whole_s
    assert random.getstate() == before
