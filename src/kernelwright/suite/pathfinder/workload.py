"""Cheapest paths through a grid: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# rows, columns, rows per launch
SHAPE: dict[Size, tuple[int, int, int]] = {
    "minute": (5, 333, 3),
    "tiny": (7, 500, 4),
    "small": (60, 20_000, 20),
    "medium": (70, 25_003, 15),
    "large": (100, 100_000, 20),
}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Costs from 0 to 9. Apart from ``large``, shape and rows per launch vary with the seed."""
    rng = np.random.default_rng(seed)
    rows, cols, height = SHAPE[size]
    if size != "large":
        rows -= int(rng.integers(0, 3))
        cols -= int(rng.integers(0, 40))
        height -= int(rng.integers(0, 3))
    rng.integers(0, 10, size=(rows, cols), dtype=np.int32).tofile(folder / "wall.bin")
    return ("wall.bin", str(rows), str(height), "costs.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``costs``: int32, of the cheapest path to each cell of the last row."""
    return {"costs": np.fromfile(folder / "costs.bin", dtype=np.int32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """A row at a time."""
    wall = np.fromfile(folder / argv[0], dtype=np.int32).reshape(int(argv[1]), -1)
    costs = wall[0].copy()
    for row in wall[1:]:
        cheapest = costs.copy()
        cheapest[1:] = np.minimum(cheapest[1:], costs[:-1])
        cheapest[:-1] = np.minimum(cheapest[:-1], costs[1:])
        costs = cheapest + row
    return {"costs": costs}


PROGRAM = SuiteProgram(
    name="pathfinder",
    title="PathFinder",
    summary="Cheapest paths through a grid, row after row: blocks with ghost zones, several rows per launch.",
    sources=("pathfinder.cu",),
    flags=(),
    generate=generate,
    outputs=("costs.bin",),
    read=read,
    oracle=oracle,
    tolerance={"costs": Tolerance("costs are integers")},
)
