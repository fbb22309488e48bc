"""Gaussian elimination: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

UNKNOWNS: dict[Size, int] = {"minute": 7, "tiny": 11, "small": 208, "medium": 233, "large": 1024}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """A random system with a solution between -1 and 1, solvable without pivoting: the diagonal is at least 1 in size, and
    the rest has a spectral norm near 0.6 whatever the order (elements uniform within 1 / (2 sqrt(unknowns))).
    """
    rng = np.random.default_rng(seed)
    unknowns = UNKNOWNS[size]
    matrix = (rng.random((unknowns, unknowns)) - 0.5) / np.sqrt(unknowns)
    matrix[np.diag_indices(unknowns)] = np.sign(rng.random(unknowns) - 0.5) * (1.0 + rng.random(unknowns))
    matrix = matrix.astype(np.float32)
    right = matrix.astype(np.float64) @ (2.0 * rng.random(unknowns) - 1.0)
    matrix.tofile(folder / "matrix.bin")
    right.astype(np.float32).tofile(folder / "right.bin")
    return (str(unknowns), "matrix.bin", "right.bin", "solution.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``solution``: float32, one per unknown."""
    return {"solution": np.fromfile(folder / "solution.bin", dtype=np.float32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """LAPACK's solver, with pivoting, in double precision."""
    unknowns = int(argv[0])
    matrix = np.fromfile(folder / argv[1], dtype=np.float32).reshape(unknowns, unknowns)
    right = np.fromfile(folder / argv[2], dtype=np.float32)
    return {"solution": np.linalg.solve(matrix.astype(np.float64), right.astype(np.float64))}


PROGRAM = SuiteProgram(
    name="gaussian",
    title="Gaussian elimination",
    summary="Forward elimination, two kernels per pivot: one thread per multiplier, one per element.",
    sources=("gaussian.cu",),
    flags=(),
    generate=generate,
    outputs=("solution.bin",),
    read=read,
    oracle=oracle,
    tolerance={
        "solution": Tolerance("float32 elimination of a well-conditioned system with unknowns near 1", absolute=2e-5)
    },
)
