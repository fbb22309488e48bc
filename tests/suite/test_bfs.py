"""Breadth-first search: the oracle against a queue, and the graphs it is asked about."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.bfs import workload
from kernelwright.suite.bfs.workload import oracle
from kernelwright.suite.program import Size


def by_queue(first: list[int], neighbours: list[int], source: int) -> list[int]:
    distance = [-1] * (len(first) - 1)
    distance[source] = 0
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for other in neighbours[first[node] : first[node + 1]]:
            if distance[other] < 0:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_agrees_with_a_queue(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    first, neighbours = (np.fromfile(tmp_path / name, dtype=np.int32).tolist() for name in argv[:2])
    assert oracle(tmp_path, argv)["distances"].tolist() == by_queue(first, neighbours, int(argv[2]))


def test_the_oracle_on_a_chain_a_loop_and_an_island(tmp_path: Path) -> None:
    np.array([0, 1, 3, 3, 4], dtype=np.int32).tofile(tmp_path / "first")
    np.array([1, 1, 3, 1], dtype=np.int32).tofile(tmp_path / "neighbours")
    assert oracle(tmp_path, ("first", "neighbours", "0", "out"))["distances"].tolist() == [0, 1, -1, 2]
    assert oracle(tmp_path, ("first", "neighbours", "2", "out"))["distances"].tolist() == [-1, -1, 0, -1]


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_graphs_are_undirected_with_islands_and_several_levels(tmp_path: Path, size: Size) -> None:
    argv = workload.generate(tmp_path, size, 2)
    first, neighbours = (np.fromfile(tmp_path / name, dtype=np.int32) for name in argv[:2])
    begin = np.repeat(np.arange(len(first) - 1), np.diff(first))
    forth = np.lexsort((neighbours, begin))
    back = np.lexsort((begin, neighbours))
    assert (begin[forth] == neighbours[back]).all() and (neighbours[forth] == begin[back]).all()
    distances = oracle(tmp_path, argv)["distances"]
    assert 0.005 < (distances < 0).mean() < 0.05
    assert distances.max() >= 4
