"""The figures of a GPU that a bound divides by, each with the factor of its calibration applied."""

from __future__ import annotations

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP, Gpu

TERMS = ("issue", "fma", "xu", "l1", "l2", "memory", "latency")
"""Parts of a bound, named as those of the timing model (docs/timing-model.md)."""


@dataclass(frozen=True)
class Machine:
    """Cycles that one unit of each kind of work keeps its part busy; latencies in cycles."""

    multiprocessors: int
    blocks: int
    """Resident on a multiprocessor at most, as are ``warps``."""
    warps: int
    issue: float
    fma: float
    xu: float
    request: float
    """A request of a warp to a cache or to shared memory."""
    l1_sector: float
    wavefront: float
    l2_sector: float
    l2_sector_of_one: float
    """The same sector where one multiprocessor asks for all."""
    memory_byte: float
    add_latency: float
    load_latency: float
    shared_latency: float
    barrier: float
    joined: bool
    """Shared memory and the L1 cache have one port."""
    clock_mhz: float
    norm: int
    wait_norm: int

    @classmethod
    def of(cls, gpu: Gpu) -> Machine:
        """Latencies are best cases: an addition after the shortest stall, a load that hits in L1."""
        sm, c = gpu.sm, gpu.calibration
        return cls(
            gpu.multiprocessors,
            sm.blocks,
            sm.warps,
            c.issue / sm.issue,
            c.pipes * WARP / sm.rates["fma"],
            c.pipes * WARP / sm.rates["xu"],
            c.l1 * WARP / sm.rates["lsu"],
            c.l1 * 32 / sm.l1_bytes_per_cycle,
            c.l1 * WARP * 4 / sm.shared_bytes_per_cycle,
            c.l2 * 32 / gpu.l2_bytes_per_cycle,
            c.l2 * 32 / sm.l2_bytes_per_cycle,
            c.dram / gpu.dram_bytes_per_cycle,
            float(sm.alu_latency),
            c.latency * sm.l1_latency,
            float(sm.shared_latency),
            c.barrier * sm.barrier_latency,
            bool(sm.carveouts),
            gpu.clock_mhz / c.scale,
            c.norm,
            gpu.wait_norm,
        )
