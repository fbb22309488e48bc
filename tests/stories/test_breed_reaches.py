"""The paper's problems, and two of the literature, reach their fitness from stated seeds within a stated number of programs, and the same on every run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.bench.breed import REACHED, deviation, tolerances
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import answers_to
from kernelwright.grammar import load_problem
from kernelwright.grammar.problems import PAPER, path_of
from kernelwright.stories.breed import breed


def test_search_is_solved(tmp_path: Path) -> None:
    """Seed 10 needs the fewest programs."""
    with breed("search", folder=tmp_path / "run", seed=10, generations=5, backend="interpreted", cache=False) as run:
        best = run.best
        assert best is not None and best.fitness == 32 and len(run.journal) <= 1500
        assert "for(i=0;i < LENINPUT;i++)" in best.text


def test_a_string_is_put_together(tmp_path: Path) -> None:
    with breed("string_match", folder=tmp_path / "run", seed=1, jobs=1, backend="interpreted", cache=False) as run:
        best = run.best
        assert best is not None and best.fitness == 0 and len(run.journal) <= 10_000
        assert re.findall(r"letter = (\w);", best.text) == list("hello_world")


@pytest.mark.slow
def test_the_multiplexer_is_found(tmp_path: Path) -> None:
    with breed("multiplexer6", folder=tmp_path / "run", seed=1, backend="interpreted", cache=False) as run:
        best = run.best
        assert best is not None and best.fitness == 0 and len(run.journal) <= 20_000
        for setting in range(64):
            bits = dict(zip(("a0", "a1", "d0", "d1", "d2", "d3"), (setting >> n & 1 for n in range(6)), strict=True))
            assert eval(best.text, {}, bits) & 1 == bits[f"d{bits['a0'] + 2 * bits['a1']}"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER)
def test_targets_are_reached(name: str, tmp_path: Path) -> None:
    seeds, least, most = REACHED[name]
    reached = 0
    for seed in seeds:
        with breed(name, folder=tmp_path / str(seed), seed=seed, backend="interpreted", cache=False) as run:
            best = run.best
            reached += best is not None and run.reaches(best.fitness) and len(run.journal) <= most
        if reached == least:
            return
    raise AssertionError(f"{reached} of the seeds {seeds} reach the target of {name}, and {least} should")


def test_the_tolerance_of_a_program_is_what_its_functions_may_move() -> None:
    problem = load_problem(path_of("keijzer6"))
    texts = ["x + 1.00", "logf(fabsf(x)+1)", "sinf(expf(x))", "expf(expf(expf(expf(x))))"]
    expected = [
        problem.worth(each)  # type: ignore[arg-type]
        for each in answers_to(back_end("interpreted").runner(problem), texts)
    ]
    plain, smooth, wild, none = tolerances(problem, texts, expected)
    assert plain == 1e-6 and smooth < 1e-4 < wild and none == 1e-6 and expected[3] is None
    assert deviation(None, 1.0) == float("inf") and deviation(2.0, 1.0) == 0.5 and deviation(None, None) == 0
    multiplier = load_problem(path_of("multiplier5"))
    assert tolerances(multiplier, ["o0=a0;"], [1.0]) == [0.0]
