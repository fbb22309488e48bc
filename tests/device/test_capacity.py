"""How much device memory there is: the least of GPU, machine, control group and what the user allows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernelwright.device.arena import RESERVE
from kernelwright.device.serving import memory_capacity
from kernelwright.device.serving.memory_capacity import SPARE, capacity_bytes
from kernelwright.device.settings import Settings, size_in_bytes
from kernelwright.errors import Misuse
from kernelwright.target import DEFAULT_GPU

HUGE = 1 << 50


def test_the_least_of_all_counts() -> None:
    assert capacity_bytes(1 << 20) == 1 << 20
    assert capacity_bytes(HUGE, 12345) == 12345
    assert capacity_bytes(HUGE, HUGE) < RESERVE
    assert 0 < capacity_bytes(HUGE) < HUGE


def test_a_control_group_limits_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("100000000\n")
    (tmp_path / "memory.current").write_text("20000000\n")
    monkeypatch.setattr(memory_capacity, "_GROUPS", (str(tmp_path / "memory.max"), "/nowhere"))
    assert capacity_bytes(HUGE) == int(SPARE * 80000000)
    (tmp_path / "memory.max").write_text("max\n")
    assert capacity_bytes(HUGE) > 80000000


@pytest.mark.parametrize(
    ("text", "size"), [("1000", 1000), ("512M", 512 << 20), ("16g", 16 << 30), ("2KiB", 2048), ("3TB", 3 << 40)]
)
def test_amounts_of_memory(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "M", "-1", "1.5G", "12X"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(Misuse, match="no amount of memory"):
        size_in_bytes(text)


def test_settings_of_an_environment() -> None:
    plain = Settings.of({})
    assert (plain.gpu.name, plain.timeout_s, plain.memory_bytes) == (DEFAULT_GPU, 600.0, None)
    given = {
        "KERNELWRIGHT_DEVICE": "p100",
        "KERNELWRIGHT_BUDGET": "5",
        "KERNELWRIGHT_TIMEOUT": "7",
        "KERNELWRIGHT_MEMORY": "1G",
        "KERNELWRIGHT_CORES": "3",
    }
    told = Settings.of(given)
    assert (told.name, told.budget, told.timeout_s, told.memory_bytes) == ("p100", 5, 7.0, 1 << 30)
    assert (told.cores, plain.cores) == (3, len(os.sched_getaffinity(0)))
    real = Settings.of({"KERNELWRIGHT_DEVICE": "cuda:3"})
    assert (real.name, real.real, real.timeout_s) == ("cuda:3", "cuda:3", 0.0)
    assert Settings.for_device("cuda").real == "cuda:0"
