"""SRAD: the oracle against the paper's equations pixel by pixel, and what diffusion conserves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.suite.srad import workload


def pixel_by_pixel(grey: NDArray[np.uint8], region: tuple[int, ...], step: float, iterations: int) -> list[list[float]]:
    """Yu and Acton's discrete equations, as they stand."""
    rows, cols = (int(n) for n in grey.shape)
    top, bottom, left, right = region
    image: list[list[float]] = [[math.exp(int(g) / 255) for g in row] for row in grey]

    def at(field: list[list[float]], i: int, j: int) -> float:
        return field[min(max(i, 0), rows - 1)][min(max(j, 0), cols - 1)]

    for _ in range(iterations):
        sample = [image[i][j] for i in range(top, bottom + 1) for j in range(left, right + 1)]
        mean = sum(sample) / len(sample)
        noise = sum((value - mean) ** 2 for value in sample) / len(sample) / mean**2
        coefficient = [[0.0] * cols for _ in range(rows)]
        for i in range(rows):
            for j in range(cols):
                here = image[i][j]
                forward = (at(image, i + 1, j) - here, at(image, i, j + 1) - here)
                backward = (here - at(image, i - 1, j), here - at(image, i, j - 1))
                gradient = math.hypot(*forward, *backward) / here
                laplacian = (sum(forward) - sum(backward)) / here
                q = math.sqrt((gradient**2 / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2)
                c = 1 / (1 + (q**2 - noise) / (noise * (1 + noise)))
                coefficient[i][j] = min(max(c, 0.0), 1.0)
        divergence = [
            [
                at(coefficient, i + 1, j) * (at(image, i + 1, j) - image[i][j])
                + coefficient[i][j] * (at(image, i - 1, j) - image[i][j])
                + at(coefficient, i, j + 1) * (at(image, i, j + 1) - image[i][j])
                + coefficient[i][j] * (at(image, i, j - 1) - image[i][j])
                for j in range(cols)
            ]
            for i in range(rows)
        ]
        image = [[image[i][j] + step / 4 * divergence[i][j] for j in range(cols)] for i in range(rows)]
    return [[255 * math.log(value) for value in row] for row in image]


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_agrees_with_the_equations(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    rows, cols, *region = (int(a) for a in argv[1:7])
    grey = np.fromfile(tmp_path / argv[0], dtype=np.uint8).reshape(rows, cols)
    want = np.array(pixel_by_pixel(grey, tuple(region), float(argv[7]), int(argv[8])))
    assert workload.oracle(tmp_path, argv)["grey"] == pytest.approx(want.ravel(), rel=1e-9)


def test_diffusion_conserves_the_signal_and_lessens_the_speckle(tmp_path: Path) -> None:
    argv = workload.generate(tmp_path, "small", 1)
    rows, cols, top, bottom, left, right = (int(a) for a in argv[1:7])
    before = np.fromfile(tmp_path / argv[0], dtype=np.uint8).reshape(rows, cols).astype(np.float64)
    after = workload.oracle(tmp_path, argv)["grey"].reshape(rows, cols)
    # What flows out of one pixel flows into its neighbour.
    assert np.exp(after / 255).sum() == pytest.approx(np.exp(before / 255).sum(), rel=1e-12)
    region = slice(top, bottom + 1), slice(left, right + 1)
    assert after[region].std() < 0.6 * before[region].std()


def test_an_image_left_as_it_is_is_far_out_of_tolerance(tmp_path: Path) -> None:
    argv = workload.generate(tmp_path, "tiny", 1)
    before = np.fromfile(tmp_path / argv[0], dtype=np.uint8)
    after = workload.oracle(tmp_path, argv)["grey"]
    assert (np.abs(after - before) > 100 * workload.PROGRAM.tolerance["grey"].absolute).mean() > 0.9
