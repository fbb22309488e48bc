"""The farm's benchmark: what it says of a machine that is busy, and the figures it draws."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.bench import farm
from kernelwright.bench.farm_populations import generations_of
from kernelwright.bench.result import Measured
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.choice import sample
from kernelwright.breeding.program_results import answers_to
from kernelwright.breeding.surrounding_code import cuda_frame
from kernelwright.errors import CompileError
from kernelwright.farm.backends.nvrtc import Nvrtc
from kernelwright.grammar import load_problem
from kernelwright.grammar.breeding import breeding_of, dials_of
from kernelwright.grammar.problems import PAPER, path_of
from kernelwright.search.generations import Generations


def _taken(nvcc_wall: float) -> dict[farm.Key, list[farm.Seconds]]:
    """nvcc takes a second of processor time, NVRTC as much, ours 0.05 on one core and half of that on two."""
    routes = {farm.NVCC: (nvcc_wall, 1.0), farm.IN_PROCESS: (1.0, 1.0), "ours, 1 workers": (0.05, 0.05)}
    routes["ours, 2 workers"] = (0.025, 0.05)
    return {
        farm.Key(name, population, route): [spent] * 3
        for name in PAPER
        for population in farm.POPULATIONS
        for route, spent in routes.items()
    }


def _programs() -> farm.Programs:
    return {(name, population): [population - 1] * 3 for name in PAPER for population in farm.POPULATIONS}


def test_figures_are_of_distinct_programs_and_of_each_generation() -> None:
    key = farm.Key("search", 300, "ours, 1 workers")
    taken = {
        key: [(0.2, 0.1), (0.6, 0.2), (0.9, 0.3)],
        farm.Key("search", 300, farm.NVCC): [(2.0, 2.0), (3.0, 3.0), (9.0, 9.0)],
    }
    rows = [row for row in farm._by_generation(taken, {("search", 300): [200, 300, 100]}) if row["route"] == key.route]
    assert [row["generation"] for row in rows] == [1, 4, 7] and [row["distinct programs"] for row in rows] == [
        200,
        300,
        100,
    ]
    assert [row["ms each"] for row in rows] == [1.0, 2.0, 9.0] and [row["times nvcc"] for row in rows] == [
        10.0,
        5.0,
        10.0,
    ]
    assert farm._each_ms(taken[key], [200, 300, 100], 0) == 2.0


def test_generations_of_a_search() -> None:
    """Distinct programs, the first as they are drawn, later ones better; the same each time."""
    problem = load_problem(path_of("keijzer6"))
    found = generations_of(problem, 40, (1, 6), 3)
    assert list(found) == [1, 6] and found == generations_of(problem, 40, (1, 6), 3)
    assert all(len(set(texts)) == len(texts) <= 40 for texts in found.values())
    drawn = Generations(breeding_of(problem), seed=3, rates=replace(dials_of(problem), population=40)).ask()
    assert found[1] == list(dict.fromkeys(each.text for each in drawn))
    with closing(back_end("host").runner(problem)) as runner:
        best = {
            number: min(w for w in map(problem.worth, answers_to(runner, texts)) if w is not None)
            for number, texts in found.items()
        }
    assert best[6] < best[1]
    assert generations_of(problem, 40, (1,), 4) != {1: found[1]}


@pytest.mark.skipif(bool(Nvrtc().missing()), reason="NVRTC is not installed")
def test_threads_share_a_population() -> None:
    problem = load_problem(path_of("keijzer6"))
    farm._threaded(2, cuda_frame(problem), problem)(sample(problem, 3, 1))
    with pytest.raises(CompileError):
        farm._threaded(2, cuda_frame(problem), problem)(["(", "1.0"])


@pytest.mark.parametrize(
    ("wall", "loaded", "holds"), [(1.1, False, True), (0.4, False, False), (9.0, False, None), (1.1, True, None)]
)
def test_a_busy_machine_is_no_judge_of_wall_times(
    wall: float, loaded: bool, holds: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farm, "available_cores", lambda: 2)
    result = Measured("farm")
    farm._promise(result, _taken(wall), dict.fromkeys(PAPER, 0.02), loaded)
    found = {promise.name: promise.holds for promise in result.promises}
    assert [found[f"{name}: times nvcc on 2 cores"] for name in PAPER] == [holds] * 3
    assert all(found[f"{name}: times nvcc on one core"] for name in PAPER)
    assert bool(result.notes) == (holds is None)


def test_the_figures_of_the_paper_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farm, "FIGURES", tmp_path)
    farm._draw(_taken(1.0), _programs())
    names = sorted(path.stem.split("-")[1] for path in tmp_path.glob("*.svg"))
    assert names == sorted(["2", "3", "4", "5", "6", "9", "10", "11", "12", "13", "14"])
    assert "times nvcc" in (tmp_path / "figure-5.svg").read_text()


def test_interrupted_it_tells_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the second problem's second round."""
    rounds = []

    def measured(
        name: str, quick: bool, say: object, taken: dict[farm.Key, list[farm.Seconds]], programs: farm.Programs
    ) -> None:
        rounds.append(name)
        programs.update(_programs())
        for key, spent in _taken(1.0).items():
            if key.problem == name and (len(rounds) == 1 or key.population < 200):
                taken[key] = spent
        if len(rounds) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(farm, "FIGURES", tmp_path)
    monkeypatch.setattr(farm, "available_cores", lambda: 2)
    monkeypatch.setattr(farm, "_measure", measured)
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.1, 0.1))
    monkeypatch.setattr(farm, "_overhead", lambda *_: 0.02)
    found = farm.measure(False, lambda _: None)
    first, second, _ = PAPER
    assert {row["problem"] for row in found.rows if "problem" in row} == {
        first,
        second,
    } and "interrupted" in found.notes[0]
    holds = {promise.name: promise.holds for promise in found.promises}
    assert holds[f"{first}: times nvcc on 2 cores"] and holds[f"{second}: times nvcc on one core"] is None
    assert holds[f"{second}: the farm's share beside compiling"] is None and list(tmp_path.glob("*.svg"))
