"""Resident blocks against NVIDIA's calculator, and by hand; what is left for the L1 cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.device.timing_model.occupancy import l1_bytes, occupancy
from kernelwright.errors import DeviceError
from kernelwright.target import KIB, gpu

DATA = Path(__file__).parent / "data" / "occupancy.txt"


def test_against_the_calculator() -> None:
    read = 0
    for line in DATA.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, *numbers = line.split()
        threads, registers, shared, blocks = map(int, numbers)
        if blocks:
            assert occupancy(gpu(name), threads, registers, shared).blocks == blocks, line
        else:
            with pytest.raises(DeviceError, match="does not fit"):
                occupancy(gpu(name), threads, registers, shared)
        read += 1
    assert read == 600


# 65536 registers; 64 warps, 32 blocks; 228 KiB of shared memory, 1 KiB of each block taken by the system.
@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "warps", "limit"),
    [
        (256, 32, 0, 8, 64, "warps"),
        (32, 16, 0, 32, 32, "blocks"),
        (256, 64, 0, 4, 32, "registers"),
        (256, 65, 0, 3, 24, "registers"),  # 65 * 32 rounds up to 2304: 7 warps in each of 4 partitions
        (128, 32, 48 * KIB, 4, 16, "shared memory"),
        (1024, 32, 227 * KIB, 1, 32, "shared memory"),
        (33, 16, 0, 32, 64, "warps"),
    ],
)
def test_by_hand(threads: int, registers: int, shared: int, blocks: int, warps: int, limit: str) -> None:
    found = occupancy(gpu("h100"), threads, registers, shared)
    assert (found.blocks, found.warps, found.limit) == (blocks, warps, limit)
    assert found.share == warps / 64


def test_what_does_not_fit_says_why() -> None:
    with pytest.raises(DeviceError, match="too much registers"):
        occupancy(gpu("v100"), 1024, 128, 0)
    with pytest.raises(DeviceError, match="too much shared memory"):
        occupancy(gpu("v100"), 32, 16, 97 * KIB)


def test_l1_is_what_shared_memory_leaves() -> None:
    """A100: 192 KiB; 4 blocks of 16 KiB and 1 KiB for the system need 68 KiB, and the next part there is has 100."""
    assert l1_bytes(gpu("a100"), 4, 16 * KIB) == (192 - 100) * KIB
    assert l1_bytes(gpu("v100"), 8, 0) == 128 * KIB
    assert l1_bytes(gpu("p100"), 1, 48 * KIB) == 24 * KIB
