"""The farm's benchmark: what it says of a machine that is busy, and the figures it draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.bench import farm
from kernelwright.bench.result import Measured
from kernelwright.grammar.problems import PAPER


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
    farm._draw(_taken(1.0))
    names = sorted(path.stem.split("-")[1] for path in tmp_path.glob("*.svg"))
    assert names == sorted(["2", "3", "4", "5", "9", "10", "11", "12", "13", "14"])
    assert "times nvcc" in (tmp_path / "figure-5.svg").read_text()


def test_interrupted_it_tells_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the second problem's second round."""
    rounds = []

    def measured(name: str, quick: bool, say: object, taken: dict[farm.Key, list[farm.Seconds]]) -> None:
        rounds.append(name)
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
    assert {row["problem"] for row in found.rows} == {first, second} and "interrupted" in found.notes[0]
    holds = {promise.name: promise.holds for promise in found.promises}
    assert holds[f"{first}: times nvcc on 2 cores"] and holds[f"{second}: times nvcc on one core"] is None
    assert holds[f"{second}: the farm's share beside compiling"] is None and list(tmp_path.glob("*.svg"))
