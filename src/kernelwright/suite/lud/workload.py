"""Blocked LU decomposition: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

ORDER: dict[Size, int] = {"minute": 13, "tiny": 20, "small": 256, "medium": 300, "large": 2048}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """A random matrix that factors without pivoting: its diagonal is at least 1 in size, and the rest has a spectral norm
    near 0.6 whatever the order (elements uniform within 1 / (2 sqrt(order))), so every leading block is far from singular.
    """
    rng = np.random.default_rng(seed)
    order = ORDER[size]
    matrix = (rng.random((order, order)) - 0.5) / np.sqrt(order)
    matrix[np.diag_indices(order)] = np.sign(rng.random(order) - 0.5) * (1.0 + rng.random(order))
    matrix.astype(np.float32).tofile(folder / "matrix.bin")
    return (str(order), "matrix.bin", "result.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``lu``: float32, L below and U on and above the diagonal, row by row."""
    return {"lu": np.fromfile(folder / "result.bin", dtype=np.float32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Left-looking block columns in double precision."""
    order = int(argv[0])
    lu = np.fromfile(folder / argv[1], dtype=np.float32).reshape(order, order).astype(np.float64)
    width = 64
    for begin in range(0, order, width):
        end = min(begin + width, order)
        # Bring the block column up to date with all block columns left of it, then factor it.
        for k in range(0, begin, width):
            unit = np.tril(lu[k : k + width, k : k + width], -1) + np.eye(width)
            lu[k : k + width, begin:end] = np.linalg.solve(unit, lu[k : k + width, begin:end])
            lu[k + width :, begin:end] -= lu[k + width :, k : k + width] @ lu[k : k + width, begin:end]
        for k in range(begin, end):
            lu[k + 1 :, k] /= lu[k, k]
            lu[k + 1 :, k + 1 : end] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 : end])
    return {"lu": lu.ravel()}


PROGRAM = SuiteProgram(
    name="lud",
    title="LU decomposition",
    summary="Right-looking blocked LU without pivoting: diagonal, perimeter and interior kernels on 16 x 16 blocks.",
    sources=("lud.cu",),
    flags=(),
    generate=generate,
    outputs=("result.bin",),
    read=read,
    oracle=oracle,
    tolerance={"lu": Tolerance("float32 sums of up to N products of elements near 1", absolute=5e-6, relative=5e-6)},
)
