"""Breadth-first search on a random graph: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

NODES: dict[Size, int] = {"minute": 90, "tiny": 150, "small": 1 << 16, "medium": 80_001, "large": 1_000_000}
DEGREE = 6  # mean number of edges per node, as in paper 000's graphs of a million nodes


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """An undirected random graph in compressed rows; a fiftieth of the nodes have no edge, so that not all is reached.

    Half of the edges lead to a near neighbour in the numbering, which makes for more levels than a uniform graph has.
    """
    rng = np.random.default_rng(seed)
    nodes = NODES[size]
    connected = np.flatnonzero(rng.random(nodes) >= 0.02)
    edges = nodes * DEGREE // 2
    tail = rng.integers(len(connected), size=edges)
    near = np.clip(tail + rng.integers(-8, 9, size=edges), 0, len(connected) - 1)
    far = rng.integers(len(connected), size=edges)
    head = np.where(rng.random(edges) < 0.5, near, far)
    tail, head = connected[tail], connected[head]
    begin, end = np.concatenate([tail, head]), np.concatenate([head, tail])
    order = np.argsort(begin, kind="stable")
    first = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(begin, minlength=nodes), out=first[1:])
    first.tofile(folder / "first.bin")
    end[order].astype(np.int32).tofile(folder / "neighbours.bin")
    source = int(connected[rng.integers(len(connected))])
    return ("first.bin", "neighbours.bin", str(source), "distances.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``distances``: int32, one per node, -1 where there is no path."""
    return {"distances": np.fromfile(folder / "distances.bin", dtype=np.int32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same levels, a whole frontier at a time."""
    first = np.fromfile(folder / argv[0], dtype=np.int32)
    neighbours = np.fromfile(folder / argv[1], dtype=np.int32)
    distances = np.full(len(first) - 1, -1, dtype=np.int32)
    frontier = np.array([int(argv[2])])
    depth = 0
    while len(frontier):
        distances[frontier] = depth
        begin, degree = first[frontier], first[frontier + 1] - first[frontier]
        # Edge numbers of the whole frontier: each node's run of edges starts at `begin` and counts up.
        run = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
        reached = np.unique(neighbours[np.repeat(begin, degree) + run])
        frontier = reached[distances[reached] < 0]
        depth += 1
    return {"distances": distances}


PROGRAM = SuiteProgram(
    name="bfs",
    title="Breadth-first search",
    summary="Level-synchronous search of a graph in compressed rows: a thread per node, two kernels per level.",
    sources=("bfs.cu",),
    flags=(),
    generate=generate,
    outputs=("distances.bin",),
    read=read,
    oracle=oracle,
    tolerance={"distances": Tolerance("distances are integers")},
)
