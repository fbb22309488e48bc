"""HotSpot: the oracle against a cell-by-cell solver and against physics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.hotspot import workload
from kernelwright.suite.program import Size

THICKNESS, CONDUCTIVITY, VOLUMIC_HEAT, SINK = 0.0005, 100.0, 1.75e6, 318.15


def case(folder: Path, temperature: np.ndarray, power: np.ndarray, steps: int) -> np.ndarray:
    temperature.astype(np.float32).tofile(folder / "t")
    power.astype(np.float32).tofile(folder / "p")
    rows, cols = temperature.shape
    argv = (str(rows), str(cols), str(steps), "2", "t", "p", "out")
    return workload.oracle(folder, argv)["temperature"].reshape(rows, cols)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_oracle_agrees_with_a_cell_by_cell_solver(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    rows, cols, steps = (int(a) for a in argv[:3])
    t = np.fromfile(tmp_path / argv[4], dtype=np.float32).astype(float).reshape(rows, cols).tolist()
    p = np.fromfile(tmp_path / argv[5], dtype=np.float32).astype(float).reshape(rows, cols).tolist()
    dx, dy = 0.016 / cols, 0.016 / rows
    capacity = VOLUMIC_HEAT * THICKNESS * dx * dy
    rx = dx / (CONDUCTIVITY * THICKNESS * dy)
    ry = dy / (CONDUCTIVITY * THICKNESS * dx)
    rz = THICKNESS / (CONDUCTIVITY * dx * dy)
    time_step = 0.5 * capacity / (2 / rx + 2 / ry + 1 / rz)
    for _ in range(steps):
        new = [row[:] for row in t]
        for r in range(rows):
            for c in range(cols):
                watts = p[r][c] + (SINK - t[r][c]) / rz
                for other_r, other_c, resistance in ((r - 1, c, ry), (r + 1, c, ry), (r, c - 1, rx), (r, c + 1, rx)):
                    if 0 <= other_r < rows and 0 <= other_c < cols:
                        watts += (t[other_r][other_c] - t[r][c]) / resistance
                new[r][c] = t[r][c] + time_step / capacity * watts
        t = new
    want = workload.oracle(tmp_path, argv)["temperature"].reshape(rows, cols)
    assert np.abs(want - np.array(t)).max() < 1e-10


def test_a_cold_chip_without_power_stays_at_the_sinks_temperature(tmp_path: Path) -> None:
    sink = np.full((5, 7), SINK)
    assert np.abs(case(tmp_path, sink, np.zeros((5, 7)), 50) - sink).max() < 1e-4


def test_steady_state_balances_power_and_sink(tmp_path: Path) -> None:
    """After a long time all power leaves through the sink, whatever its distribution."""
    power = np.random.default_rng(0).random((4, 3))
    power *= 20.0 / power.sum()
    temperature = case(tmp_path, np.full((4, 3), SINK), power, 2000)
    rz = THICKNESS / (CONDUCTIVITY * (0.016 / 3) * (0.016 / 4))
    assert ((temperature - SINK) / rz).sum() == pytest.approx(20.0, rel=1e-4)


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_simulating_matters_far_beyond_the_tolerance(tmp_path: Path, size: Size) -> None:
    argv = workload.generate(tmp_path, size, 1)
    start = np.fromfile(tmp_path / argv[4], dtype=np.float32)
    change = np.abs(workload.oracle(tmp_path, argv)["temperature"] - start)
    assert np.median(change) > 1000 * workload.PROGRAM.tolerance["temperature"].absolute
