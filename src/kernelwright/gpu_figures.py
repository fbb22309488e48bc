"""What a GPU is to everybody here: figures, each with its source. ``target.py`` has the table of them."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.calibration import DEFAULT, Calibration
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

WARP = 32

PIPES = ("fma", "imad", "alu", "fp64", "fp16", "xu", "lsu", "warp", "branch", "tensor")
"""Execution pipes of a multiprocessor: multiply-add, integer multiply-add (a part of ``fma``), integer and compare, double,
half, transcendental and conversion, memory requests, shuffles and votes, control flow, matrices."""


@dataclass(frozen=True)
class Multiprocessor:
    """What every multiprocessor of one architecture has. Sizes in bytes, latencies in cycles of its own clock.

    ``rates`` are lanes per cycle for each of ``PIPES``: 64 means two warp instructions per cycle. ``sources`` says for
    each field where the figure comes from.
    """

    warps: int
    blocks: int
    registers: int
    register_unit: int
    """Registers of a warp are handed out in multiples of this many."""
    partitions: int
    """Warps, registers and schedulers belong to one of so many equal parts."""
    registers_per_thread: int
    shared_bytes: int
    shared_per_block: int
    shared_unit: int
    shared_reserved: int
    """What the system takes of each block's shared memory."""
    carveouts: tuple[int, ...]
    """Sizes the driver can give to shared memory where it shares its store with the L1 cache; empty where it does not."""
    l1_bytes: int
    """The L1 cache, together with shared memory where ``carveouts`` divide one store."""
    issue: float
    """Warp instructions that all schedulers together start per cycle."""
    rates: Mapping[str, int]
    l1_bytes_per_cycle: int
    shared_bytes_per_cycle: int
    l2_bytes_per_cycle: int
    """What one multiprocessor can take from the L2 cache."""
    alu_latency: int
    special_latency: int
    warp_latency: int
    fp64_latency: int
    shared_latency: int
    l1_latency: int
    constant_latency: int
    barrier_latency: int
    """From the last arrival to the first instruction after it."""
    barrier_warp_cycles: int
    """What each warp of the block adds to a barrier."""
    sources: Mapping[str, str]

    def __hash__(self) -> int:
        return hash((self.warps, self.shared_bytes, self.l1_bytes, self.l1_latency, tuple(self.rates.items())))

    @property
    def threads(self) -> int:
        """The most threads it holds at a time."""
        return self.warps * WARP


@dataclass(frozen=True)
class Gpu:
    """A GPU by name. Bandwidths of the whole chip; latencies in cycles as a warp waits for its data."""

    name: str
    """As ``gpu`` reads it: with what a person's own has otherwise, and with the calibration (``gpu_text.py``)."""
    title: str
    arch: str
    sm: Multiprocessor
    multiprocessors: int
    clock_mhz: int
    """The highest clock, which benchmarks of single kernels run at."""
    l2_bytes: int
    l2_ways: int
    l2_bytes_per_cycle: int
    dram_gb_per_s: int
    memory_bytes: int
    l2_latency: int
    dram_latency: int
    launch_us: float
    """The time of a kernel that does nothing, between two events of its stream."""
    memory_bus_bits: int
    copy_engines: int
    host_gb_per_s: float
    """What a copy between pinned host memory and the GPU reaches: four fifths of the link's nominal rate in one direction."""
    sources: Mapping[str, str]
    block_cycles: float = 1.2
    """Between two blocks that the chip starts, one after the other over all multiprocessors."""
    wait_norm: int = 2
    """How far waits and what the chip does overlap: 1 not at all, then powers of two, up to almost perfectly."""
    like: str = ""
    """The GPU of the table that a person's own is like; empty: it is one of the table."""
    calibration: Calibration = DEFAULT

    def __hash__(self) -> int:
        return hash((self.name, self.clock_mhz, self.multiprocessors, self.dram_gb_per_s))

    @property
    def called(self) -> str:
        """The name alone."""
        return self.name.partition("@")[0].partition(":")[0]

    @property
    def label(self) -> str:
        """For people, with the calibration."""
        return f"{self.title}, calibration {self.calibration}" if self.calibration != DEFAULT else self.title

    @property
    def dram_bytes_per_cycle(self) -> float:
        """DRAM bandwidth of the whole chip, in bytes per cycle of its highest clock."""
        return self.dram_gb_per_s * 1e3 / self.clock_mhz

    def source(self, figure: str) -> str:
        """Where a figure comes from: a field of the GPU, ``sm.`` and one of its multiprocessor, or ``sm.rates.`` and a pipe.
        Raises ``Misuse`` for a figure that it does not have."""
        sources = self.sm.sources if figure.startswith("sm.") else self.sources
        found = sources.get(figure.removeprefix("sm."))
        if found is None:
            raise Misuse(f"there is no figure {figure!r} of {self.name}", hint="docs/timing-model.md has their names")
        return found
