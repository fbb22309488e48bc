"""Nearest neighbours among storm records: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

RECORDS: dict[Size, int] = {
    "minute": 700,
    "tiny": 3000,
    "small": 10_000,
    "medium": 14_321,
    "large": 42_764,
}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Positions along the tracks of random storms, and a target among them.

    The nearest distances differ by more than rounding can, so that their order is one and the same everywhere.
    """
    rng = np.random.default_rng(seed)
    records = RECORDS[size]
    storms = records // 40
    start = np.column_stack([rng.uniform(8.0, 25.0, storms), rng.uniform(-95.0, -15.0, storms)])
    heading = np.column_stack([rng.uniform(0.1, 0.9, storms), rng.uniform(-1.2, 0.4, storms)])
    storm, hour = rng.integers(storms, size=records), rng.uniform(0.0, 40.0, records)
    track = start[storm] + heading[storm] * hour[:, None]
    locations: NDArray[np.float32] = (track + rng.normal(0.0, 0.3, (records, 2))).astype(np.float32)
    k = int(rng.integers(5, 13))
    while True:
        target = np.round(rng.uniform([10.0, -90.0], [50.0, -20.0]), 3)
        nearest = np.sort(_distances(locations, target))[: k + 1]
        if (np.diff(nearest) > 1e-5 * nearest[1:]).all():
            break
    locations.tofile(folder / "locations.bin")
    return ("locations.bin", f"{target[0]:.3f}", f"{target[1]:.3f}", str(k), "nearest.bin", "distances.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``nearest``: int32, record numbers, nearest first. ``distances``: float32, degrees, one per record."""
    return {
        "nearest": np.fromfile(folder / "nearest.bin", dtype=np.int32),
        "distances": np.fromfile(folder / "distances.bin", dtype=np.float32),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """All distances in double precision, sorted."""
    locations = np.fromfile(folder / argv[0], dtype=np.float32).reshape(-1, 2)
    distances = _distances(locations, np.array([float(argv[1]), float(argv[2])]))
    return {"nearest": np.argsort(distances, kind="stable")[: int(argv[3])], "distances": distances}


def _distances(locations: NDArray[np.float32], target: NDArray[np.float64]) -> NDArray[np.float64]:
    # The program holds the target in float32 too.
    difference: NDArray[np.float64] = locations.astype(np.float64) - target.astype(np.float32)
    return np.hypot(difference[:, 0], difference[:, 1])


PROGRAM = SuiteProgram(
    name="nn",
    title="Nearest neighbours",
    summary="The k storm records nearest to a position: one kernel measures all, the host selects.",
    sources=("nn.cu",),
    flags=(),
    generate=generate,
    outputs=("nearest.bin", "distances.bin"),
    read=read,
    oracle=oracle,
    tolerance={
        "nearest": Tolerance("record numbers, of distances that differ by more than rounding"),
        "distances": Tolerance("five float32 operations, of which two may be fused", relative=5e-7),
    },
)
