"""Measured launches of several shapes and processes as one row per kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from kernelwright.device.real_gpu import launch_times
from kernelwright.device.real_gpu.launch_times import LaunchTimes, Timed, merge_times


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


class Queue:
    """A driver and its GPU: notes for how long the GPU was kept busy."""

    def __init__(self) -> None:
        self.driver = self
        self.properties = self
        self.max_threads_per_multiprocessor = 2048
        self.busy: list[int] = []

    def keep_busy(self, wait_ns: int, stream: int) -> None:
        self.busy.append(wait_ns)

    def elapsed_ms(self, start: int, end: int) -> float:
        return 0.004

    def resident_blocks(self, function: int, threads: int, shared: int) -> int:
        return 8

    def function_attribute(self, function: int, number: int) -> int:
        return 32

    def create_event(self, flags: int) -> int:
        return 1

    def record(self, event: int, stream: int) -> None:
        pass

    def synchronize_event(self, event: int) -> None:
        pass


def slow() -> None:
    time.sleep(0.06)


def quick() -> None:
    pass


@pytest.mark.parametrize(("first", "late"), [(slow, [None, 4.0]), (quick, [4.0, 4.0])])
def test_a_launch_that_is_queued_too_late_has_no_time(
    first: Callable[[], None], late: list[float | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU is kept busy for longer from then on."""
    monkeypatch.setattr(launch_times, "QUEUED_NS", 50_000_000)
    monkeypatch.setattr(launch_times, "MOST_QUEUED_NS", 1_000_000_000)
    queue = Queue()
    times = LaunchTimes(queue)  # type: ignore[arg-type]
    for start in (first, quick):
        times.launch(("k", (1, 1, 1), (32, 1, 1), 0), 7, 0, start)
    times.finish()
    (found,) = times.rows()
    assert (found["each_us"], found["late"], found["launches"]) == (late, late.count(None), 2)
    assert queue.busy[0] == 50_000_000 and (queue.busy[1] > 100_000_000) == (first is slow)
    assert merge_times([found])[0]["late"] == late.count(None)


def test_a_late_launch_counts_as_those_in_time_do() -> None:
    timed = Timed()
    timed.add(90.0, is_late=True)
    assert (timed.time_us, timed.least_us, timed.most_us) == (90.0, 90.0, 90.0)  # nothing better is known
    timed.add(4.0, is_late=False)
    timed.add(6.0, is_late=False)
    timed.add(80.0, is_late=True)
    assert (timed.time_us, timed.least_us, timed.most_us) == (20.0, 4.0, 6.0)
    assert (timed.each_us, timed.late) == ([None, 4.0, 6.0, None], 2)
