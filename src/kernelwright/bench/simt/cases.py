"""The kernels that ``kw bench simt`` runs, with their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.lazy_dataclasses import dataclass

Array = NDArray[Any]
Scalar = int | float


@dataclass(frozen=True)
class Step:
    """One launch: ``arguments`` are numbers, or names of arrays of the case."""

    kernel: str
    grid: tuple[int, int]
    block: tuple[int, int]
    arguments: tuple[Scalar | str, ...]


@dataclass(frozen=True)
class Case:
    """A row of the table: arrays, the launches that work on them, and the arrays that must come out equal."""

    name: str
    arrays: dict[str, Array]
    steps: tuple[Step, ...]
    compared: tuple[str, ...]
    tolerance: float = 1e-5
    """Relative to the largest value; the two fuse multiplications and additions differently."""


def cases_of(quick: bool) -> list[Case]:
    """The kernels, each with its launch and inputs; ``quick``: with a quarter of the data."""
    random = np.random.default_rng(1)
    scale = 4 if quick else 1
    n, m = (1 << 22) // scale, 256 // (2 if quick else 1)
    return [
        _stream(n, random),
        _reduction(n, random),
        _product(m, 32, 8, random),
        _product(m, 16, 16, random),
        _alignment(512 // (2 if quick else 1), random),
        _heat(1024 // (2 if quick else 1), random),
        _divergent((1 << 16) // scale, random),
        _decomposition(256 // (2 if quick else 1), random),
        _search((1 << 16) // scale, random),
    ]


def long_cases() -> list[Case]:
    """Those of one launch on so much data that it takes some ten milliseconds."""
    random = np.random.default_rng(2)
    return [
        _stream(1 << 25, random),
        _reduction(1 << 25, random),
        _product(640, 32, 8, random),
        _product(512, 16, 16, random),
        _heat(1024, random),
        _divergent(1 << 16, random),
    ]


def _stream(n: int, random: np.random.Generator) -> Case:
    arrays = {"x": random.random(n, np.float32), "y": random.random(n, np.float32)}
    return Case("saxpy", arrays, (Step("saxpy", (n // 256, 1), (256, 1), (n, 2.0, "x", "y")),), ("y",))


def _reduction(n: int, random: np.random.Generator) -> Case:
    arrays = {"in": random.random(n, np.float32), "out": np.zeros(512, np.float32)}
    return Case("reduction", arrays, (Step("sum_blocks", (512, 1), (256, 1), ("in", "out", n)),), ("out",), 1e-4)


def _product(m: int, w: int, h: int, random: np.random.Generator) -> Case:
    a, b = random.random((m, m), np.float32), random.random((m, m), np.float32)
    step = Step("multiply", (m // w, m // h), (w, h), ("a", "b", "c", m))
    return Case(f"matrix product {w}x{h}", {"a": a, "b": b, "c": np.zeros((m, m), np.float32)}, (step,), ("c",))


def _heat(cells: int, random: np.random.Generator) -> Case:
    tiles = -(-cells // (16 - 2 * 2))
    arrays = {name: random.random((cells, cells), np.float32) for name in ("before", "power", "after")}
    arguments = (2, cells, cells, "before", "power", "after", 0.01, 1.3, 0.5)
    return Case("HotSpot", arrays, (Step("conduct", (tiles, tiles), (16, 16), arguments),), ("after",))


def _divergent(n: int, random: np.random.Generator) -> Case:
    arrays = {"start": random.integers(1, 100_000, n, dtype=np.int32), "out": np.zeros(n, np.float32)}
    return Case("divergent", arrays, (Step("wander", (n // 256, 1), (256, 1), ("start", "out", n)),), ("out",), 1e-4)


def _alignment(n: int, random: np.random.Generator) -> Case:
    scores = np.zeros((n + 1, n + 1), np.int32)
    scores[0], scores[:, 0] = -10 * np.arange(n + 1), -10 * np.arange(n + 1)
    tiles = n // 16
    steps = []
    for diagonal in range(2 * tiles - 1):
        row, col = min(diagonal, tiles - 1), max(0, diagonal - tiles + 1)
        count = row - col + 1
        steps.append(Step("align_tiles", (count, 1), (16, 1), ("similarity", "scores", n, 10, row, col)))
    arrays = {"similarity": random.integers(-4, 10, (n, n), dtype=np.int32), "scores": scores}
    return Case("Needleman-Wunsch", arrays, tuple(steps), ("scores",), 0.0)


def _decomposition(n: int, random: np.random.Generator) -> Case:
    matrix = random.random((n, n), np.float32) + np.float32(n) * np.eye(n, dtype=np.float32)
    steps = []
    for start in range(0, n, 16):
        left = (n - start) // 16 - 1
        steps.append(Step("factor_diagonal", (1, 1), (16, 1), ("matrix", n, start)))
        if left:
            steps.append(Step("solve_perimeter", (left, 1), (32, 1), ("matrix", n, start)))
            steps.append(Step("update_interior", (left, left), (16, 16), ("matrix", n, start)))
    return Case("LU decomposition", {"matrix": matrix}, tuple(steps), ("matrix",), 1e-4)


def _search(nodes: int, random: np.random.Generator) -> Case:
    degrees = random.integers(2, 10, nodes)
    first = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    arrays = {
        "first": first,
        "neighbour": random.integers(0, nodes, int(first[-1]), dtype=np.int32),
        "in_frontier": np.zeros(nodes, np.int32),
        "visited": np.zeros(nodes, np.int32),
        "reached": np.zeros(nodes, np.int32),
        "distance": np.full(nodes, -1, np.int32),
    }
    for name, value in (("in_frontier", 1), ("visited", 1), ("distance", 0)):
        arrays[name][0] = value
    grid, block = ((nodes + 255) // 256, 1), (256, 1)
    steps = []
    for depth in range(1, 9):
        frontier = ("first", "neighbour", "in_frontier", "visited", "reached")
        steps.append(Step("expand_frontier", grid, block, (nodes, *frontier)))
        settled = ("reached", "in_frontier", "visited", "distance")
        steps.append(Step("settle_reached", grid, block, (nodes, depth, *settled)))
    return Case("breadth-first search", arrays, tuple(steps), ("distance",), 0.0)
