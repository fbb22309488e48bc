"""The two direct solvers: their oracles against SciPy and against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.gaussian import workload as gaussian
from kernelwright.suite.lud import workload as lud
from kernelwright.suite.program import Size


@pytest.mark.parametrize("size", ["tiny", "small"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_lu_oracle_agrees_with_scipy(tmp_path: Path, size: Size, seed: int) -> None:
    import scipy.linalg

    argv = lud.generate(tmp_path, size, seed)
    order = int(argv[0])
    matrix = np.fromfile(tmp_path / argv[1], dtype=np.float32).reshape(order, order).astype(np.float64)
    permutation, lower, upper = scipy.linalg.lu(matrix)
    assert (permutation == np.eye(order)).all()
    assert (
        np.abs(lud.oracle(tmp_path, argv)["lu"].reshape(order, order) - (lower - np.eye(order) + upper)).max() < 1e-12
    )


@pytest.mark.parametrize("order", [1, 2, 63, 64, 65, 130])
def test_the_lu_oracle_factors_any_order(tmp_path: Path, order: int) -> None:
    matrix = np.random.default_rng(order).random((order, order)).astype(np.float32) + order * np.eye(
        order, dtype=np.float32
    )
    matrix.tofile(tmp_path / "m")
    factors = lud.oracle(tmp_path, (str(order), "m", "out"))["lu"].reshape(order, order)
    assert np.abs((np.tril(factors, -1) + np.eye(order)) @ np.triu(factors) - matrix).max() < 1e-9 * order


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_the_gaussian_oracle_agrees_with_elimination_by_hand(tmp_path: Path, size: Size) -> None:
    import scipy.linalg

    argv = gaussian.generate(tmp_path, size, 3)
    unknowns = int(argv[0])
    matrix = np.fromfile(tmp_path / argv[1], dtype=np.float32).reshape(unknowns, unknowns).astype(np.float64)
    right = np.fromfile(tmp_path / argv[2], dtype=np.float32).astype(np.float64)
    solution = gaussian.oracle(tmp_path, argv)["solution"]
    assert np.abs(matrix @ solution - right).max() < 1e-12
    assert 0.5 < np.abs(solution).max() < 1.01
    for pivot in range(unknowns - 1):  # no pivoting, as the program does it
        multiplier = matrix[pivot + 1 :, pivot] / matrix[pivot, pivot]
        matrix[pivot + 1 :] -= np.outer(multiplier, matrix[pivot])
        right[pivot + 1 :] -= multiplier * right[pivot]
    assert np.abs(scipy.linalg.solve_triangular(matrix, right) - solution).max() < 1e-12


@pytest.mark.parametrize("workload", [gaussian, lud])
def test_leading_blocks_are_far_from_singular(tmp_path: Path, workload: object) -> None:
    argv = workload.generate(tmp_path, "small", 4)  # type: ignore[attr-defined]
    order = int(argv[0])
    matrix = np.fromfile(tmp_path / argv[1], dtype=np.float32).reshape(order, order)
    diagonal = np.diag(np.diag(matrix))
    assert np.abs(np.diag(matrix)).min() >= 1.0
    assert np.linalg.norm(matrix - diagonal, 2) < 0.7
