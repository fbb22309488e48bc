"""Where a kernel stands under a GPU's roofs: warp instructions a second over warp instructions a 32-byte sector, level by level of memory.

The instruction roofline of Ding and Williams ("An Instruction Roofline Model for GPUs", PMBS 2019): it needs no floating-point
arithmetic in the kernel, and its figures are those that are counted. A point below the slanted roof of its level waits for that
level's bandwidth at most as much as the distance says; one below the flat roof for instructions to be issued; one far below both
for latency, or for warps that are not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

SECTOR = 32
LEVELS = ("L1", "L2", "DRAM")


@dataclass(frozen=True)
class Roofs:
    """Of a GPU, in thousand millions a second: warp instructions that it can issue, and sectors that each level can move."""

    issue: float
    sectors: Mapping[str, float]


@dataclass(frozen=True)
class Standing:
    """Of a kernel: what it issues, in thousand millions of warp instructions a second, and by level warp instructions for each sector.
    A level that it moves nothing through is left out."""

    rate: float
    intensity: Mapping[str, float]

    def share(self, roofs: Roofs) -> tuple[str, float]:
        """The roof that is nearest above the kernel, and how much of it is reached (1: all)."""
        found = {"issue": self.rate / roofs.issue}
        found |= {level: self.rate / (x * roofs.sectors[level]) for level, x in self.intensity.items()}
        name = max(found, key=lambda each: found[each])
        return name, found[name]


def roofs_of(gpu: Gpu) -> Roofs:
    """From the GPU's clock, schedulers and bytes a cycle."""
    ghz, sm = gpu.clock_mhz / 1000, gpu.sm
    sectors = {
        "L1": gpu.multiprocessors * sm.l1_bytes_per_cycle * ghz / SECTOR,
        "L2": min(gpu.l2_bytes_per_cycle, gpu.multiprocessors * sm.l2_bytes_per_cycle) * ghz / SECTOR,
        "DRAM": gpu.dram_gb_per_s / SECTOR,
    }
    return Roofs(gpu.multiprocessors * sm.issue * ghz, sectors)


def standing_of(row: Mapping[str, Any]) -> Standing | None:
    """Of a row of ``device.profiling.profile_rows``; None for one without an estimate, or without instructions."""
    totals = row.get("totals")
    time_us = row.get("mean_us", 0.0)
    if not totals or not time_us:
        return None
    instructions = sum(row["instructions"].values())
    if not instructions:
        return None
    launches = totals["timed"]
    sectors = (totals["sectors"] / launches, totals["l2 sectors"] / launches, row["dram_bytes"] / SECTOR)
    intensity = {level: instructions / moved for level, moved in zip(LEVELS, sectors, strict=True) if moved > 0}
    return Standing(instructions / time_us / 1000, intensity)


def in_words(standing: Standing, roofs: Roofs) -> str:
    """For a figure's caption."""
    name, share = standing.share(roofs)
    roof = "issuing instructions" if name == "issue" else f"the bandwidth of {name}"
    far = "; neither is what it waits for most" if share < 0.5 else ""
    return f"{standing.rate:,.1f} thousand million warp instructions a second; nearest roof: {roof}, {100 * share:.0f} % of it{far}"
