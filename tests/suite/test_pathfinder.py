"""PathFinder: the oracle against trying all paths."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import accumulate, product
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.pathfinder import workload


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 5), (6, 1), (4, 2), (6, 5)])
def test_the_oracle_agrees_with_all_paths(tmp_path: Path, rows: int, cols: int) -> None:
    wall = np.random.default_rng(rows + cols).integers(0, 10, (rows, cols), dtype=np.int32)
    wall.tofile(tmp_path / "wall")
    cheapest = [10**9] * cols
    for start, moves in product(range(cols), product((-1, 0, 1), repeat=rows - 1)):
        path = list(accumulate(moves, initial=start))
        if all(0 <= col < cols for col in path):
            cost = sum(int(wall[row, col]) for row, col in enumerate(path))
            cheapest[path[-1]] = min(cheapest[path[-1]], cost)
    assert workload.oracle(tmp_path, ("wall", str(rows), "3", "costs"))["costs"].tolist() == cheapest


def test_shapes_take_several_blocks_and_launches_and_do_not_fill_the_last(tmp_path: Path) -> None:
    for seed in range(6):
        wall, rows, height, _ = workload.generate(tmp_path, "tiny", seed)
        cols = (tmp_path / wall).stat().st_size // 4 // int(rows)
        own_columns = 256 - 2 * int(height)
        assert own_columns < cols
        assert cols % own_columns
        assert int(rows) - 1 >= int(height)


def test_a_wall_of_another_shape_is_refused(host_program: Callable[[str], Path], tmp_path: Path) -> None:
    np.zeros(7, dtype=np.int32).tofile(tmp_path / "wall.bin")
    command = [str(host_program("pathfinder")), "wall.bin", "2", "1", "costs.bin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: the 7 cells of wall.bin do not make 2 rows\n"
