"""Measured launches of several shapes and processes as one row per kernel."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.device.real_gpu.launch_times import merge_times


def row(kernel: str, launches: int, time_us: float, least: float, most: float, **more: Any) -> dict[str, Any]:
    return {
        "kernel": kernel, "mangled": kernel, "grid": (1, 1, 1), "block": (32, 1, 1), "dynamic_shared_bytes": 0,
        "launches": launches, "time_us": time_us, "least_us": least, "most_us": most, "registers": 10, "occupancy": 0.5,
        **more,
    }  # fmt: skip


def test_shapes_of_one_kernel_become_one_row() -> None:
    made = merge_times(
        [
            row("a", 2, 10.0, 4.0, 6.0),
            row("b", 1, 60.0, 60.0, 60.0),
            row("a", 8, 30.0, 1.0, 5.0, grid=(7, 1, 1), registers=20, occupancy=0.9),
        ]
    )
    b, a = made
    assert (b["kernel"], b["share"], b["mean_us"]) == ("b", pytest.approx(0.6), 60.0)
    assert (a["launches"], a["time_us"], a["least_us"], a["most_us"], a["mean_us"]) == (10, 40.0, 1.0, 6.0, 4.0)
    assert (a["grid"], a["registers"], a["occupancy"]) == ((7, 1, 1), 20, pytest.approx(0.8))


def test_nothing_was_launched_or_nothing_has_a_time() -> None:
    assert merge_times([]) == []
    (made,) = merge_times([row("a", 3, 0.0, 0.0, 0.0)])
    assert (made["share"], made["mean_us"]) == (0.0, 0.0)
