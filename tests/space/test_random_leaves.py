"""Random leaves: they compile, run, agree with NumPy, and no prefix's bound is above what was executed or estimated."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright as kw
from tests.space.random_leaves import Sampler, breaches

SIZES: dict[str, dict[str, int]] = {
    "axpy": {"n": 4096},
    "mv": {"m": 32, "n": 64},
    "gesummv": {"m": 16, "n": 32},
    "outer": {"m": 32, "n": 16},
    "matmul": {"m": 32, "n": 32, "k": 32},
    "matmul_strided": {"m": 32, "n": 32, "k": 16},
    "matmul_at": {"m": 32, "n": 32, "k": 16},
    "matmul_bt": {"m": 32, "n": 32, "k": 16},
    "matmul_fused": {"m": 16, "n": 32, "k": 16},
    "batchmm": {"batch": 4, "m": 16, "n": 16, "k": 16},
    "row_sum": {"m": 32, "n": 64},
    "row_max": {"m": 32, "n": 64},
    "softmax": {"m": 16, "n": 32},
    "softmax_kept": {"m": 16, "n": 32},
    "conv": {"filters": 8, "channels": 4, "size": 8, "window": 3},
    "fused2mm": {"m": 16, "n": 16, "k": 16, "p": 16},
}


PARTIAL: dict[str, dict[str, int]] = {
    "axpy": {"n": 1009},
    "mv": {"m": 37, "n": 50},
    "gesummv": {"m": 11, "n": 27},
    "outer": {"m": 31, "n": 18},
    "matmul": {"m": 33, "n": 20, "k": 18},
    "matmul_strided": {"m": 19, "n": 30, "k": 10},
    "matmul_at": {"m": 22, "n": 29, "k": 13},
    "matmul_bt": {"m": 23, "n": 25, "k": 14},
    "matmul_fused": {"m": 21, "n": 44, "k": 12},
    "batchmm": {"batch": 5, "m": 11, "n": 10, "k": 9},
    "row_sum": {"m": 29, "n": 71},
    "row_max": {"m": 13, "n": 67},
    "softmax": {"m": 9, "n": 37},
    "softmax_kept": {"m": 9, "n": 37},
    "conv": {"filters": 5, "channels": 3, "size": 9, "window": 3},
    "fused2mm": {"m": 9, "n": 10, "k": 11, "p": 13},
}
"""Extents that few sizes of tiles divide: iterations that are only partly there."""


def check(name: str, sizes: dict[str, int], seed: int, count: int, folder: Path) -> None:
    sampler = Sampler(name, sizes, seed)
    with kw.Device("h200") as device:
        for sample in sampler.samples(count, folder, device):
            assert not breaches(sample), "\n".join([*breaches(sample)[:3], sample.kernel.source])
    assert not sampler.failed, sampler.failed[0]


@pytest.mark.parametrize("name", ["axpy", "row_sum"])
def test_a_few(name: str, tmp_path: Path) -> None:
    check(name, SIZES[name], seed=5, count=6, folder=tmp_path)


@pytest.mark.parametrize("name", ["mv", "row_max"])
def test_a_few_with_iterations_that_are_partly_there(name: str, tmp_path: Path) -> None:
    check(name, PARTIAL[name], seed=5, count=6, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_many(name: str, tmp_path: Path) -> None:
    check(name, SIZES[name], seed=6, count=70, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTIAL)
def test_many_with_iterations_that_are_partly_there(name: str, tmp_path: Path) -> None:
    check(name, PARTIAL[name], seed=7, count=40, folder=tmp_path)
