"""Estimated time of streams and events: what runs beside what, and what waits."""

from __future__ import annotations

import pytest

from kernelwright.device.serving.timeline import COPY_US, ISSUE_US, Timeline

A, B, APART = 1, 2, 3


@pytest.fixture
def timeline() -> Timeline:
    """1000 bytes per microsecond inside the device, 100 to the host; two blocking streams and one that is not."""
    made = Timeline(device_gb_per_s=1.0, host_gb_per_s=0.1)
    made.create(A, blocking=True)
    made.create(B, blocking=True)
    made.create(APART, blocking=False)
    return made


def between(timeline: Timeline, start: int, end: int) -> float:
    """Microseconds between two events."""
    elapsed = timeline.elapsed_ms(start, end)
    assert elapsed is not None
    return round(1e3 * elapsed, 9)


def test_a_stream_works_in_order(timeline: Timeline) -> None:
    timeline.run(A, 10)  # the device was idle: what follows waits for work, not for the host
    timeline.record(1, A)
    timeline.run(A, 100)
    timeline.run(A, 50)
    timeline.record(2, A)
    assert between(timeline, 1, 2) == 150
    assert between(timeline, 2, 1) == -150


def test_an_idle_device_waits_for_the_host(timeline: Timeline) -> None:
    timeline.record(1, A)
    timeline.run(A, 1)
    timeline.record(2, A)
    assert between(timeline, 1, 2) == ISSUE_US + 1


def test_kernels_take_turns_and_copies_go_beside_them(timeline: Timeline) -> None:
    assert timeline.run(A, 100) == ISSUE_US + 100
    assert timeline.run(B, 100) == ISSUE_US + 200
    assert timeline.copy(APART, 2000, "to device") == 3 * ISSUE_US + COPY_US + 20
    assert timeline.copy(APART, 1000, "to host") == 3 * ISSUE_US + 2 * COPY_US + 30


def test_the_legacy_stream_waits_for_all_and_all_wait_for_it(timeline: Timeline) -> None:
    first = timeline.copy(A, 10_000, "to device")
    own = timeline.run(0, 10)
    assert own == first + 10
    assert timeline.copy(B, 100, "to host") == own + COPY_US + 1
    assert timeline.copy(APART, 0, "to device") == first + COPY_US, "this one waits for its engine alone"


def test_events_hold_a_stream_back(timeline: Timeline) -> None:
    timeline.run(APART, 100)
    timeline.record(1, APART)
    timeline.wait(A, 1)
    assert timeline.copy(A, 100, "to host") == ISSUE_US + 100 + COPY_US + 1


def test_an_event_that_was_never_recorded_has_no_time(timeline: Timeline) -> None:
    timeline.record(1, A)
    timeline.wait(A, 77)
    assert timeline.elapsed_ms(1, 2) is None
    timeline.forget_event(1)
    assert timeline.elapsed_ms(1, 1) is None


@pytest.mark.parametrize("wait", ["stream", "device", "event"])
def test_the_host_waits(timeline: Timeline, wait: str) -> None:
    end = timeline.run(A, 1000)
    timeline.record(1, A)
    if wait == "event":
        timeline.synchronize_event(1)
    else:
        timeline.synchronize(A if wait == "stream" else None)
    assert timeline.run(APART, 5) == end + ISSUE_US + 5


def test_memory_traffic_inside_the_device_counts_twice(timeline: Timeline) -> None:
    assert timeline.copy(A, 500, "none") == ISSUE_US + COPY_US + 1
    assert timeline.fill(A, 1000) == timeline.fill(B, 0) - COPY_US


def test_streams_come_and_go(timeline: Timeline) -> None:
    assert timeline.has(0) and timeline.has(A) and not timeline.has(9)
    timeline.destroy(A)
    timeline.destroy(0)
    assert timeline.has(0) and not timeline.has(A)


def test_the_end_is_that_of_the_last_work_on_any_stream(timeline: Timeline) -> None:
    assert timeline.end_us == 0.0
    timeline.run(APART, 500.0)
    timeline.copy(A, 1000, "to device")
    assert timeline.end_us == ISSUE_US + 500.0
    timeline.copy(B, 1_000_000, "to host")
    assert timeline.end_us == 3 * ISSUE_US + COPY_US + 10_000.0
