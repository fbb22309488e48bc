"""The Euler solver: the grid is a grid, and the oracle keeps what the equations keep."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.euler3d import workload
from kernelwright.suite.euler3d.workload import FAR_FIELD, GAMMA, WALL, faces, tetrahedra
from kernelwright.suite.program import Size


def grid(folder: Path, size: Size, seed: int) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    argv = workload.generate(folder, size, seed)
    neighbours = np.fromfile(folder / argv[0], dtype=np.int32).reshape(4, -1)
    normals = np.fromfile(folder / argv[1], dtype=np.float32).reshape(4, 3, -1)
    return argv, neighbours, normals


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_cells_are_closed_and_neighbours_agree(tmp_path: Path, size: Size) -> None:
    _, neighbours, normals = grid(tmp_path, size, 3)
    assert np.abs(normals.sum(axis=0)).max() < 1e-5
    assert (neighbours == WALL).any() and (neighbours == FAR_FIELD).any()
    face, cell = np.nonzero(neighbours >= 0)
    other = neighbours[face, cell]
    back = neighbours[:, other] == cell
    assert (back.sum(axis=0) == 1).all()
    assert (normals[back.argmax(axis=0), :, other] == -normals[face, :, cell]).all()


def test_normals_point_outward_and_cells_fill_the_box() -> None:
    points, cells = tetrahedra((3, 2, 2), np.random.default_rng(0))
    _, normals = faces(points, cells, np.zeros(len(points), dtype=bool))
    # Divergence theorem: the flux of x / 3 out of a cell is its volume; a face's mean point is its centroid.
    centroids = np.stack([np.delete(points[cells], i, axis=1).mean(axis=1) for i in range(4)])
    volumes = np.einsum("fdc,fcd->c", normals, centroids) / 3.0
    assert (volumes > 0).all()
    heights = [points[(points[:, 0] == x) & (points[:, 1] == y)][:, 2].min() for x in (0, 3) for y in (0, 2)]
    assert volumes.sum() < 3 * 2 * 2 - sum(heights) / 4
    assert volumes.sum() > 0.8 * 3 * 2 * 2


def scalar_step(neighbours: np.ndarray, normals: np.ndarray, start: np.ndarray, mach: float) -> np.ndarray:
    """One time step, cell by cell in plain Python."""
    cells = neighbours.shape[1]
    far = [1.0, mach, 0.0, 0.0, 1.0 / (GAMMA * (GAMMA - 1.0)) + 0.5 * mach * mach]

    def pressure(u: list[float]) -> float:
        return (GAMMA - 1.0) * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0])

    def flux(u: list[float], n: list[float]) -> list[float]:
        p, through = pressure(u), (u[1] * n[0] + u[2] * n[1] + u[3] * n[2]) / u[0]
        return [u[0] * through, *(u[1 + d] * through + p * n[d] for d in range(3)), (u[4] + p) * through]

    def wave(u: list[float], n: list[float]) -> float:
        area = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        return abs(u[1] * n[0] + u[2] * n[1] + u[3] * n[2]) / u[0] + math.sqrt(GAMMA * pressure(u) / u[0]) * area

    begin = []
    for density, u, v, w, p in start.T.astype(float).tolist():
        energy = p / (GAMMA - 1.0) + 0.5 * density * (u * u + v * v + w * w)
        begin.append([density, density * u, density * v, density * w, energy])
    normal = [[[float(x) for x in normals[f, :, c]] for f in range(4)] for c in range(cells)]
    step = [0.5 / (0.5 * sum(wave(begin[c], normal[c][f]) for f in range(4))) for c in range(cells)]
    state = begin
    for share in (3, 2, 1):
        new = []
        for c in range(cells):
            out = [0.0] * 5
            for f in range(4):
                n, k = normal[c][f], int(neighbours[f, c])
                if k == WALL:
                    through = [0.0, *(pressure(state[c]) * x for x in n), 0.0]
                else:
                    there = state[k] if k >= 0 else far
                    a, b, fastest = flux(state[c], n), flux(there, n), max(wave(state[c], n), wave(there, n))
                    through = [0.5 * (a[q] + b[q] - fastest * (there[q] - state[c][q])) for q in range(5)]
                out = [x + y for x, y in zip(out, through, strict=True)]
            new.append([begin[c][q] - step[c] / share * out[q] for q in range(5)])
        state = new
    return np.array(state).T


def test_the_oracle_agrees_with_a_cell_by_cell_solver(tmp_path: Path) -> None:
    argv, neighbours, normals = grid(tmp_path, "tiny", 5)
    start = np.fromfile(tmp_path / argv[2], dtype=np.float32).reshape(5, -1)
    want = workload.oracle(tmp_path, (*argv[:4], "1"))["state"]
    assert np.abs(want - scalar_step(neighbours, normals, start, float(argv[3]))).max() < 1e-12


def test_without_walls_the_far_field_stays(tmp_path: Path) -> None:
    argv, neighbours, _ = grid(tmp_path, "tiny", 1)
    mach = float(argv[3])
    start = np.repeat([[1.0], [mach], [0.0], [0.0], [1.0 / GAMMA]], neighbours.shape[1], axis=1)
    start.astype(np.float32).tofile(tmp_path / argv[2])
    np.where(neighbours == WALL, FAR_FIELD, neighbours).astype(np.int32).tofile(tmp_path / argv[0])
    state = workload.oracle(tmp_path, (*argv[:4], "5"))["state"]
    assert np.abs(state - workload.far_field(mach)[:, None]).max() < 1e-6


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_the_flow_changes_in_every_cell_far_beyond_the_tolerance(tmp_path: Path, size: Size) -> None:
    argv, _, _ = grid(tmp_path, size, 1)
    state = workload.oracle(tmp_path, argv)["state"]
    one_step_less = workload.oracle(tmp_path, (*argv[:4], str(int(argv[4]) - 1)))["state"]
    changed = np.abs(state - one_step_less).max(axis=0)
    assert np.quantile(changed, 0.01) > 10 * workload.PROGRAM.tolerance["state"].absolute
