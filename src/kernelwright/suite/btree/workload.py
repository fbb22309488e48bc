"""B+tree queries: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# order, records, point queries, range queries
SHAPE: dict[Size, tuple[int, int, int, int]] = {
    "minute": (16, 300, 30, 15),
    "tiny": (16, 500, 40, 20),
    "small": (64, 100_000, 3_000, 2_000),
    "medium": (64, 120_000, 3_300, 1_900),
    "large": (256, 1_000_000, 10_000, 6_000),
}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Records with sparse random keys, negative ones too, and values that have nothing to do with the keys.

    Half of the points are keys of records, the others any number; ranges begin and end anywhere, and some are empty.
    """
    rng = np.random.default_rng(seed)
    order, records, points, ranges = SHAPE[size]
    limit = 20 * records
    keys = rng.choice(2 * limit, size=records, replace=False).astype(np.int32) - np.int32(limit)
    values = rng.integers(0, 1 << 30, size=records, dtype=np.int32)
    anywhere = rng.integers(-limit - 10, limit + 10, size=points, dtype=np.int32)
    sought = np.where(rng.random(points) < 0.5, rng.choice(keys, size=points), anywhere)
    low = rng.integers(-limit - 10, limit + 10, size=ranges)
    width = rng.integers(0, limit // 4, size=ranges) * (rng.random(ranges) < 0.9)
    np.stack([keys, values], axis=1).tofile(folder / "records.bin")
    sought.astype(np.int32).tofile(folder / "points.bin")
    np.stack([low, low + width], axis=1).astype(np.int32).tofile(folder / "ranges.bin")
    return (str(order), "records.bin", "points.bin", "ranges.bin", "values.bin", "spans.bin")


def regular(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Keys without gaps, each record's value its key, every point one of them, and no range beyond them: as the data that
    the paper's evolution ran on. The answer to a point is then the point, and ranges begin at their low end."""
    rng = np.random.default_rng(seed)
    order, records, points, ranges = SHAPE[size]
    keys = rng.permutation(records).astype(np.int32)
    low = rng.integers(0, records, size=ranges)
    high = rng.integers(low, records)
    np.stack([keys, keys], axis=1).tofile(folder / "records.bin")
    rng.integers(0, records, size=points, dtype=np.int32).tofile(folder / "points.bin")
    np.stack([low, high], axis=1).astype(np.int32).tofile(folder / "ranges.bin")
    return (str(order), "records.bin", "points.bin", "ranges.bin", "values.bin", "spans.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``values``: int32 per point, -1 where there is none; ``spans``: int32 pairs (rank of the first record, number)."""
    return {
        "values": np.fromfile(folder / "values.bin", dtype=np.int32),
        "spans": np.fromfile(folder / "spans.bin", dtype=np.int32).reshape(-1, 2),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Binary search in the sorted keys."""
    records = np.fromfile(folder / argv[1], dtype=np.int32).reshape(-1, 2)
    records = records[np.argsort(records[:, 0])]
    keys = records[:, 0]
    points = np.fromfile(folder / argv[2], dtype=np.int32)
    at = np.minimum(np.searchsorted(keys, points), len(keys) - 1)
    ends = np.searchsorted(keys, np.fromfile(folder / argv[3], dtype=np.int32).reshape(-1, 2))
    return {
        "values": np.where(keys[at] == points, records[at, 1], np.int32(-1)),
        "spans": np.stack([ends[:, 0], ends[:, 1] - ends[:, 0]], axis=1).astype(np.int32),
    }


PROGRAM = SuiteProgram(
    name="btree",
    title="B+tree queries",
    summary="Point and range queries: a thread block per query, a thread per slot of a node.",
    sources=("main.c", "tree.c", "points.cu", "ranges.cu"),
    flags=(),
    generate=generate,
    outputs=("values.bin", "spans.bin"),
    read=read,
    oracle=oracle,
    tolerance={"values": Tolerance("values are copied"), "spans": Tolerance("ranks and counts are integers")},
    regular=regular,
)
