"""Where spilled registers are found: the executor knows none, so nothing of them is logged, but what they take is known.

Each thread has its own words, written once and read back before the next iteration writes them again. What all threads of a
block have either fits into the block's part of L1, with as much again for what passes through meanwhile, or is gone from there
when it is wanted; likewise in L2, for all blocks that run at once. Stores go through to L2. Source: hardware counters of 344
variants with spills on an RTX 2080 Ti (docs/timing-model.md): sectors written to L2 are those of global and local stores
together, and loads of 20 KB of spills behind 32 KB of L1 hit about half, those of more hardly ever.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.timing_model.counters import AccessCount, Observed
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP, Gpu


@dataclass(frozen=True)
class SpilledRegisters:
    """Sectors over the launch, and the shares of them that caches have when they are loaded."""

    loaded: float
    stored: float
    in_l1: float
    in_l2: float

    @property
    def from_memory(self) -> float:
        """Sectors that are loaded from memory."""
        return self.loaded * (1 - self.in_l1) * (1 - self.in_l2)

    @property
    def to_memory(self) -> float:
        """Sectors that are written to memory."""
        return self.stored * (1 - self.in_l2)

    def latency(self, gpu: Gpu) -> float:
        """Cycles that a load waits."""
        far = self.in_l2 * gpu.l2_latency + (1 - self.in_l2) * gpu.dram_latency
        return self.in_l1 * gpu.sm.l1_latency + (1 - self.in_l1) * far


def spilled_registers(
    observed: Observed, spills: Sequence[AccessCount], gpu: Gpu, l1_bytes: float, at_once: int
) -> SpilledRegisters:
    """``spills``: accesses that only the code makes. ``l1_bytes``: a block's part of L1; ``at_once``: blocks that run at once."""
    stores = [a for a in spills if a.kind == "store"]
    bytes_per_thread = sum(a.bytes * a.requests for a in stores) / observed.warps
    block = bytes_per_thread * WARP * observed.geometry.warps
    return SpilledRegisters(
        loaded=float(sum(a.sectors for a in spills if a.kind == "load")),
        stored=float(sum(a.sectors for a in stores)),
        in_l1=_kept(2 * block, l1_bytes),
        in_l2=_kept(block * at_once, gpu.l2_bytes),
    )


def _kept(bytes: float, cache: float) -> float:
    """Everything that fits; of twice as much nothing, because the oldest goes first and is wanted first."""
    return min(1.0, max(0.0, 2 - bytes / cache)) if cache else 0.0
