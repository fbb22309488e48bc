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
    "conv": {"filters": 8, "channels": 4, "size": 8, "window": 3},
    "fused2mm": {"m": 16, "n": 16, "k": 16, "p": 16},
}


def check(name: str, seed: int, count: int, folder: Path) -> None:
    sampler = Sampler(name, SIZES[name], seed)
    with kw.Device("h200") as device:
        for sample in sampler.samples(count, folder, device):
            assert not breaches(sample), "\n".join([*breaches(sample)[:3], sample.kernel.source])
    assert not sampler.failed, sampler.failed[0]


@pytest.mark.parametrize("name", ["axpy", "row_sum"])
def test_a_few(name: str, tmp_path: Path) -> None:
    check(name, seed=5, count=6, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_many(name: str, tmp_path: Path) -> None:
    check(name, seed=6, count=70, folder=tmp_path)
