"""The roofline of a profile's page: roofs from the GPU's figures, a kernel's place from its counters."""

from __future__ import annotations

import pytest

from kernelwright.report.figures import roofline
from kernelwright.report.profile import profile_page
from kernelwright.report.roofline import Standing, in_words, roofs_of, standing_of
from kernelwright.target import gpu

H200 = gpu("h200")


def row(
    instructions: float = 6400.0, sectors: float = 3200.0, l2: float = 800.0, dram: float = 0.0, us: float = 2.0
) -> dict[str, object]:
    """Two launches of one kernel; figures of one launch."""
    return {
        "instructions": {"int": instructions / 2, "fp32": instructions / 2}, "mean_us": us, "dram_bytes": dram,
        "totals": {"timed": 2.0, "sectors": 2 * sectors, "l2 sectors": 2 * l2},
    }  # fmt: skip


def test_roofs_are_clock_times_what_a_cycle_gives() -> None:
    roofs = roofs_of(H200)
    ghz = H200.clock_mhz / 1000
    assert roofs.issue == pytest.approx(H200.multiprocessors * 4 * ghz)
    assert roofs.sectors["DRAM"] * 32 == pytest.approx(H200.dram_gb_per_s)
    assert roofs.sectors["L1"] == pytest.approx(H200.multiprocessors * H200.sm.l1_bytes_per_cycle * ghz / 32)
    assert roofs.sectors["L1"] > roofs.sectors["L2"] > roofs.sectors["DRAM"]


def test_a_kernel_stands_where_its_counters_say() -> None:
    found = standing_of(row(dram=6400.0))
    assert found is not None
    assert found.rate == pytest.approx(3.2)  # 6400 in 2 us
    assert found.intensity == pytest.approx({"L1": 2.0, "L2": 8.0, "DRAM": 32.0})
    no_dram = standing_of(row())
    assert no_dram is not None and set(no_dram.intensity) == {"L1", "L2"}
    assert standing_of({"trouble": "it stopped"}) is None and standing_of(row(instructions=0.0)) is None


def test_the_nearest_roof_is_named() -> None:
    roofs = roofs_of(H200)
    busy = Standing(0.9 * roofs.issue, {"L1": 1000.0})
    name, share = busy.share(roofs)
    assert name == "issue" and share == pytest.approx(0.9)
    memory = Standing(0.8 * 2.0 * roofs.sectors["DRAM"], {"L1": 2.0, "DRAM": 2.0})
    name, share = memory.share(roofs)
    assert name == "DRAM" and share == pytest.approx(0.8)
    assert "the bandwidth of DRAM, 80 % of it" in in_words(memory, roofs) and "neither" not in in_words(memory, roofs)
    assert "neither is what it waits for most" in in_words(Standing(0.1 * roofs.issue, {}), roofs)


def test_a_kernel_without_traffic_is_drawn_too() -> None:
    roofs = roofs_of(H200)
    assert "<svg" in roofline(roofs.sectors, roofs.issue, 5.0, {}, "1")


def test_a_page_without_the_gpus_figures_has_no_roofline() -> None:
    failed = [
        {
            "kernel": "k",
            "trouble": "it stopped",
            "launches": 1,
            "time_us": 0.0,
            "launch_us": 0.0,
            "share": 0.0,
            "grid": [1],
            "block": [1],
            "dynamic_shared_bytes": 0,
        }
    ]
    assert "Under the roofs" not in profile_page("p", "g", failed, chip=H200)
