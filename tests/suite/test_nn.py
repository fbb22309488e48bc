"""Nearest neighbours: the oracle against sorting in plain Python, and what the generator promises of ties."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.suite.nn import workload


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_agrees_with_sorting(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    north, east, k = np.float32(argv[1]).item(), np.float32(argv[2]).item(), int(argv[3])
    locations = np.fromfile(tmp_path / argv[0], dtype=np.float32).reshape(-1, 2).tolist()
    distances = [math.dist(location, (north, east)) for location in locations]
    want = workload.oracle(tmp_path, argv)
    assert want["nearest"].tolist() == sorted(range(len(distances)), key=distances.__getitem__)[:k]
    assert want["distances"] == pytest.approx(distances)


def test_a_known_answer(tmp_path: Path) -> None:
    np.array([[3, 4], [0, 0], [0, 2], [-1, 0]], dtype=np.float32).tofile(tmp_path / "locations")
    want = workload.oracle(tmp_path, ("locations", "0", "0", "3", "nearest", "distances"))
    assert want["nearest"].tolist() == [1, 3, 2]
    assert want["distances"].tolist() == [5.0, 0.0, 2.0, 1.0]


@pytest.mark.parametrize("seed", range(10))
def test_no_rounding_can_change_which_records_are_nearest(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "small", seed)
    want = workload.oracle(tmp_path, argv)
    nearest = np.sort(want["distances"])[: len(want["nearest"]) + 1]
    bound = workload.PROGRAM.tolerance["distances"].relative
    assert (np.diff(nearest) > 4 * bound * nearest[1:]).all()
    assert nearest[0] > 0


def test_a_target_with_ambiguous_neighbours_is_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = []
    distances = workload._distances

    def tied_at_first(locations: NDArray[np.float32], target: NDArray[np.float64]) -> NDArray[np.float64]:
        targets.append(target.tolist())
        return distances(locations, target) if len(targets) > 1 else np.ones(len(locations))

    monkeypatch.setattr(workload, "_distances", tied_at_first)
    argv = workload.generate(tmp_path, "tiny", 1)
    assert len(targets) == 2 and targets[0] != targets[1]
    assert [float(argv[1]), float(argv[2])] == targets[1]


def test_more_neighbours_than_records_are_refused(host_program: Callable[[str], Path], tmp_path: Path) -> None:
    np.zeros((2, 2), dtype=np.float32).tofile(tmp_path / "locations.bin")
    command = [str(host_program("nn")), "locations.bin", "0", "0", "3", "nearest.bin", "distances.bin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: cannot find 3 neighbours among the 2 records of locations.bin\n"
