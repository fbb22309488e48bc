"""Published microbenchmarks: what others measured on GPUs of the table, or on ones close to them, each figure with its source.

Figures are facts and stand here as they were published, in cycles where the source has cycles. What is per cycle is their rate divided by
their clock; the note has both. GPUs that the table lacks are described by one that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernelwright.bench.model import microbenchmarks as ours
from kernelwright.bench.model.microbenchmarks import Bench
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu, gpu

BENCHES = "te42kyfo/gpu-benches 1c36d50"
LUO = "Luo, Fan, Li, Du, Wang, Chu, arXiv:2402.13499 (2024)"
JIA = "Jia, Maggioni, Staiger, Scarpazza, arXiv:1804.06826 (2018)"
RAJA = "llnl/RAJA, pull request 1624 (2024)"
ACCEL = "accel-sim/gpgpu-sim_distribution, pull request 33 (2022)"
WEBGPU = "PWhiddy/webgpu-atomics-benchmark"

GPUS: dict[str, Gpu] = {
    **{name: gpu(name) for name in ("v100", "a100", "h200", "h100", "rtx4090")},
    "v100 at 1380 MHz": replace(gpu("v100"), clock_mhz=1380),
    "h100-pcie": replace(gpu("h100"), multiprocessors=114, clock_mhz=1755, dram_gb_per_s=2039),
    "a40": replace(gpu("a6000"), clock_mhz=1725, dram_gb_per_s=696),
    "l40": replace(gpu("l40s"), clock_mhz=2490),
}
"""What was measured; boards that the table lacks by one of the same chip, with their own clocks, multiprocessors and memory."""


@dataclass(frozen=True)
class Quantity:
    """What a GPU is asked, in ``unit``; ``on`` asks it."""

    name: str
    unit: str
    on: Callable[[Bench], float]

    def estimated(self, gpu: Gpu) -> float:
        """What the timing model makes of it for ``gpu``, in ``unit``."""
        from kernelwright.bench.model.timed_kernels import VirtualBench  # needs a compiler; what ``on`` asks may not

        return self.on(VirtualBench(gpu, ours.SOURCE))


@dataclass(frozen=True)
class Published:
    """A figure of a quantity on a GPU of ``GPUS``. ``unlike``: why the estimate cannot be compared to the digit; empty: it can."""

    quantity: Quantity
    gpu: str
    figure: float
    source: str
    note: str = ""
    unlike: str = ""


L1 = Quantity("L1, latency", "cycles", ours.l1_latency)
L1_FULL = Quantity("L1, latency, multiprocessor full", "cycles", ours.l1_latency_full)
L2 = Quantity("L2, latency", "cycles", ours.l2_latency)
MEMORY = Quantity("memory, latency", "cycles", ours.memory_latency)
SHARED = Quantity("shared memory, latency", "cycles", ours.shared_latency)
CONSTANT = Quantity("constants, latency", "cycles", ours.constant_latency)
FMA = Quantity("multiply-add, latency", "cycles", ours.fma_latency)
DFMA = Quantity("double multiply-add, latency", "cycles", ours.dfma_latency)
L1_RATE = Quantity("L1, a block of 256 on each", "bytes per cycle and multiprocessor", ours.l1_bandwidth)
L1_RATE_FULL = Quantity("L1, multiprocessor full", "bytes per cycle and multiprocessor", ours.l1_bandwidth_full)
L2_RATE = Quantity("L2", "bytes per cycle", ours.l2_bandwidth)
STREAMS = {name: Quantity(f"memory, {name}", "GB/s", ours.stream_bandwidth(name)) for name in ours.STREAMS}
LAUNCH = Quantity("launch of 4,096 threads", "us", ours.launch_us)
ATOMICS = {n: Quantity(f"atomics on {n:,} words", "G/s", ours.atomic_rate(n)) for n in (1, 10, 1000, 10000)}
OPERATIONS = Quantity("operations of L2, 163,840 atomics on a word", "operations", ours.atomic_operations)

UNNAMED = "the GPU is not named"
AGGREGATED = "the driver may add up what lanes have for one word before it asks memory"


def _latencies() -> list[Published]:
    found = []
    for name, l1, l2, memory in (
        ("v100", 29.9, 215.0, 435.0),
        ("a100", 36.0, 213.0, 572.0),
        ("h100-pcie", 34.1, 265.5, 650.0),
        ("l40", 36.1, 276.5, 631.5),
    ):
        source = f"{BENCHES}, gpu-latency"
        found += [
            Published(L1, name, l1, source),
            Published(L1_FULL, name, l1, source, "the same figure: one warp alone"),
            Published(L2, name, l2, source, "a set of 4 MB, in the near half"),
            Published(MEMORY, name, memory, source, "sets of 60 to 560 MB"),
        ]
    for name, l1, l2, memory, shared in (
        ("a100", 38, 262, 466, 29),
        ("h100", 41, 263, 479, 29),
        ("rtx4090", 43, 273, 541, 30),
    ):
        source = f"{LUO}; the table's own source"
        found += [
            Published(L1_FULL, name, l1, source),
            Published(L2, name, l2, source),
            Published(MEMORY, name, memory, source),
            Published(SHARED, name, shared, source),
        ]
    return [
        *found,
        Published(CONSTANT, "v100", 27, f"{JIA}; the table's own source", "an addition to each address is part of ours"),
        Published(FMA, "v100", 4, f"{JIA}; the table's own source"),
        Published(DFMA, "v100", 8, f"{BENCHES}, cuda-incore"),
    ]  # fmt: skip


def _bandwidths() -> list[Published]:
    found = []
    for name, gb_per_s, multiprocessors, mhz in (
        ("v100 at 1380 MHz", 13839, 80, 1380),
        ("a100", 19259, 108, 1410),
        ("h100-pcie", 25224, 114, 1755),
        ("a40", 9352, 84, 1725),
        ("l40", 22620, 142, 2490),
    ):
        rate = round(1000 * gb_per_s / mhz / multiprocessors, 1)
        note = f"{gb_per_s:,} GB/s at {mhz:,} MHz on {multiprocessors} multiprocessors, a set of 48 kB, 4 bytes a lane"
        source = f"{BENCHES}, gpu-cache"
        found += [
            Published(L1_RATE, name, rate, source, note),
            Published(L1_RATE_FULL, name, rate, source, note),
        ]
    for name, gb_per_s, mhz, test in (
        ("v100 at 1380 MHz", 2449, 1380, "gpu-cache, a set of 1 MB"),
        ("a100", 5405, 1410, "gpu-l2-cache, a set of 15 MB, 80 GB board"),
        ("h100-pcie", 6947, 1755, "gpu-l2-cache, a set of 14 MB"),
        ("h200", 9920, 1980, "gpu-l2-cache, a set of 15 MB; its clock is not said"),
        ("a40", 2393, 1725, "gpu-cache, a set of 1 MB"),
        ("l40", 5144, 2490, "gpu-l2-cache, a set of 15 MB"),
    ):
        rate, note = round(1000 * gb_per_s / mhz), f"{gb_per_s:,} GB/s at {mhz:,} MHz"
        found.append(Published(L2_RATE, name, rate, f"{BENCHES}, {test}", note))
    for name, figures in (
        ("v100", (895, 866, 802, 814)),
        ("a100", (1503, 1490, 1381, 1360)),
        ("h100-pcie", (2016, 1942, 1704, 1832)),
        ("h200", (3884, 2756, 3165, 3534)),
        ("a40", (679, 679, 652, 653)),
        ("l40", (846, 844, 770, 768)),
    ):
        for kernel, figure in zip(STREAMS, figures, strict=True):
            found.append(Published(STREAMS[kernel], name, figure, f"{BENCHES}, gpu-stream, blocks of 1,024"))
    return found


def _launches() -> list[Published]:
    source = f"{BENCHES}, gpu-small-kernels"
    note = "64 KB of traffic; launches behind each other, not between events"
    return [
        Published(LAUNCH, name, figure, source, note)
        for name, figure in (("a100", 2.62), ("a40", 2.05), ("h200", 2.43), ("l40", 1.64))
    ]


def _atomics() -> list[Published]:
    rates = ((10, 4.21), (1000, 62.8), (10000, 181.0))
    return [
        Published(
            OPERATIONS,
            "v100",
            10240,
            ACCEL,
            "hardware counter of L2 atomics: lanes that meet are one operation by sixteens",
            "the model counts the turns that a slice takes, as their times on an H200 have it",
        ),
        *(Published(ATOMICS[n], "a100", figure, RAJA, "integers, blocks of 256", UNNAMED) for n, figure in rates),
        Published(ATOMICS[1], "rtx4090", 62.0, WEBGPU, "32 additions a thread to one word", AGGREGATED),
    ]


PUBLISHED = (*_latencies(), *_bandwidths(), *_launches(), *_atomics())
