"""Figures as people read them."""

from __future__ import annotations

from kernelwright.report.counters import besides_time, counters, number

FIGURES = {
    "time_us": (22.345, 16.2762),
    "with_launches_us": (52.345, 46.2762),
    "us advance": (22.345, 16.2762),
    "instructions": (18653255.0, 12703815.0),
    "dram_bytes": (14542336.0, 900.0),
    "barriers": (0.0, 0.0),
    "registers": (29.0, 29.0),
    "shortest_us": (2.0, 1.4),
    "something new": (1.0, 2.0),
}


def test_titles_units_and_changes() -> None:
    shown = [(c.title, c.original, c.variant, c.change) for c in counters(FIGURES)]
    assert shown == [
        ("time in kernels", "22.34 us", "16.28 us", "-27.2 %"),
        ("time with what launching costs", "52.34 us", "46.28 us", "-11.6 %"),
        ("warp instructions", "18.65 M", "12.7 M", "-31.9 %"),
        ("traffic to device memory", "14.54 MB", "0.0009 MB", "-100.0 %"),
        ("registers per thread", "29", "29", "same"),
    ]


def test_single_kernels_have_their_time_where_there_are_several() -> None:
    titles = [c.title for c in counters({**FIGURES, "us other": (1.0, 1.0)})]
    assert titles[:3] == ["time in kernels", "time of advance", "time of other"]


def test_without_times() -> None:
    assert [c.title for c in besides_time(FIGURES)] == [
        "warp instructions",
        "traffic to device memory",
        "registers per thread",
    ]
    assert counters({}) == ()


def test_a_figure_that_was_nothing() -> None:
    (made,) = counters({"barriers": (0.0, 12.0)})
    assert made.change == "new" and str(made) == "barriers passed, block by block 0 to 12"


def test_numbers() -> None:
    assert [number(n) for n in (0.0, 3.0, 12.3456, 999.94, 18653.2, -0.5)] == [
        "0",
        "3",
        "12.35",
        "999.9",
        "18,653",
        "-0.5",
    ]
