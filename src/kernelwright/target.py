"""GPU descriptions: the only place that knows a clock or a latency; architectures alone are in ``architectures.py``.

Every other room asks here. An unknown name is an error that lists the nearest known ones. Every figure has its source
beside it: ``gpu("a100").source("l2_latency")``.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from kernelwright.architectures import ARCHITECTURES, architecture
from kernelwright.errors import Misuse
from kernelwright.gpu_figures import PIPES as PIPES
from kernelwright.gpu_figures import WARP as WARP
from kernelwright.gpu_figures import Gpu as Gpu
from kernelwright.gpu_figures import Multiprocessor as Multiprocessor
from kernelwright.gpu_text import read_gpu
from kernelwright.own_gpu import with_calibration, with_figures

KIB = 1024
MIB = 1024 * 1024

GUIDE = "CUDA C++ Programming Guide 12.9, 'Compute Capabilities', technical specifications"
RATES = "CUDA C++ Programming Guide 12.9, 'Arithmetic Instructions', results per clock cycle per multiprocessor"
SYNC = "CUDA C++ Programming Guide 12.9, 'Synchronization Instruction', operations per clock cycle"
OCCUPANCY = "NVIDIA, cuda_occupancy.h of CUDA 13.0"
P100 = "NVIDIA, Tesla P100 white paper WP-08019-001 (2016), table 1"
V100 = "NVIDIA, Tesla V100 GPU Architecture WP-08608-001 (2017), table 1"
A100 = "NVIDIA, A100 Tensor Core GPU Architecture v1.0 (2020)"
H100 = "NVIDIA, H100 Tensor Core GPU Architecture v1.04 (2023)"
H200 = "NVIDIA, H200 Tensor Core GPU data sheet (2024)"
TURING_PAPER = "NVIDIA, Turing GPU Architecture WP-09183-001 (2018), appendix A and figure 4"
T4 = "NVIDIA, T4 70W Low Profile PCIe GPU Accelerator product brief PB-09256-001 (2019)"
GA102 = "NVIDIA, Ampere GA102 GPU Architecture v2.1 (2021)"
A4000 = "NVIDIA, RTX A4000 data sheet (2021)"
A10 = "NVIDIA, A10 Tensor Core GPU data sheet (2021)"
ADA_PAPER = "NVIDIA, Ada GPU Architecture v2.1 (2023)"
L40S = "NVIDIA, L40S GPU data sheet (2023)"
L4 = "NVIDIA, L4 Tensor Core GPU data sheet (2023)"
PROPERTIES = "the driver's device properties, as programs print them"
VOLTA = "Jia, Maggioni, Staiger, Scarpazza, arXiv:1804.06826 (2018)"
AMPERE = "Abdelkhalik, Arafa, Santhi, Badawy, arXiv:2208.11174 (2022)"
TURING = "Jia, Maggioni, Smith, Scarpazza, arXiv:1903.07486 (2019)"
HOPPER = "Luo, Fan, Li, Du, Wang, Chu, arXiv:2402.13499 (2024)"
ACCEL = "Accel-Sim, tested configurations SM7_QV100, SM80_A100 and SM90_H200 (fitted to microbenchmarks)"
ACCEL_SMALL = "Accel-Sim, tested configurations SM75_RTX2060 and SM86_RTX3070 (fitted to microbenchmarks)"
BENCHES = "te42kyfo/gpu-benches 1c36d50, measured on an A40 (Ampere) and an L40 (Ada)"
LINK = "four fifths of the nominal rate of 16 lanes of PCIe 3.0 (Pascal to Turing), 4.0 (Ampere, Ada) or 5.0 (Hopper)"
MEASURED = "measured by make gpu on an H200, 2026-11-27 (docs/timing-model.md)"
MEASURED_H100 = "measured by make gpu on an H100 SXM5, 2026-11-27 (docs/timing-model.md)"
STREAMS = "te42kyfo/gpu-benches 1c36d50, gpu-stream: loads reach 95 to 98 % of the rate of memory on V100, A100, H100 PCIe, A40 and L40"
ASSUMED = "no published figure that we trust; an assumption, to be calibrated"

_COMMON = {
    "warps": GUIDE,
    "blocks": GUIDE,
    "registers": GUIDE,
    "register_unit": OCCUPANCY,
    "partitions": OCCUPANCY,
    "registers_per_thread": GUIDE,
    "shared_bytes": GUIDE,
    "shared_per_block": GUIDE,
    "shared_unit": OCCUPANCY,
    "shared_reserved": OCCUPANCY,
    "carveouts": OCCUPANCY,
    "l2_bytes_per_cycle": "64 bytes per cycle: a request port of 2 sectors; " + ASSUMED,
    "constant_latency": ASSUMED,
    "barrier_latency": ASSUMED,
    "barrier_warp_cycles": SYNC + ", divided by 32 threads",
    "rates.fma": RATES + ", 32-bit floating-point multiply-add",
    "rates.imad": RATES + ", 32-bit integer multiply-add",
    "rates.alu": RATES + ", 32-bit integer add",
    "rates.fp64": RATES + ", 64-bit floating-point multiply-add",
    "rates.fp16": RATES + ", 16-bit floating-point multiply-add, two to an instruction",
    "rates.xu": RATES + ", reciprocal and the like; conversions",
    "rates.warp": RATES + ", warp shuffle",
    "rates.lsu": "lanes of load and store units per multiprocessor: the architecture's white paper",
    "rates.branch": "a branch every other cycle of a quarter: fitted to point in polygon on a TITAN RTX (docs/decisions/0036)",
    "rates.tensor": ASSUMED,
    "warp_latency": ASSUMED,
    "fp64_latency": ASSUMED,
}


def _rates(
    fma: int, imad: int, alu: int, fp64: int, fp16: int, tensor: int, lsu: int = 32, branch: int = 64
) -> dict[str, int]:
    figures = (fma, imad, alu, fp64, fp16, 16, lsu, 32, branch, tensor)
    return dict(zip(PIPES, figures, strict=True))


PASCAL_SM = Multiprocessor(
    warps=64, blocks=32, registers=65536, register_unit=256, partitions=2, registers_per_thread=255,
    shared_bytes=64 * KIB, shared_per_block=48 * KIB, shared_unit=256, shared_reserved=0, carveouts=(),
    l1_bytes=24 * KIB, issue=2.0, rates=_rates(64, 32, 64, 32, 64, 16, branch=32),
    l1_bytes_per_cycle=64, shared_bytes_per_cycle=128, l2_bytes_per_cycle=64,
    alu_latency=6, special_latency=20, warp_latency=33, fp64_latency=8, shared_latency=24, l1_latency=82,
    constant_latency=25, barrier_latency=20, barrier_warp_cycles=1,
    sources=_COMMON | {
        "l1_bytes": P100, "issue": P100 + ": two schedulers; pairs of instructions are not modelled",
        "l1_bytes_per_cycle": VOLTA, "shared_bytes_per_cycle": P100, "alu_latency": VOLTA, "special_latency": ASSUMED,
        "shared_latency": VOLTA, "l1_latency": VOLTA,
        "rates.imad": "three 16-bit multiply-adds on the multiply-add pipe: " + ASSUMED,
    },
)  # fmt: skip
VOLTA_SM = Multiprocessor(
    warps=64, blocks=32, registers=65536, register_unit=256, partitions=4, registers_per_thread=255,
    shared_bytes=96 * KIB, shared_per_block=96 * KIB, shared_unit=256, shared_reserved=0,
    carveouts=tuple(k * KIB for k in (0, 8, 16, 32, 64, 96)),
    l1_bytes=128 * KIB, issue=4.0, rates=_rates(64, 64, 64, 32, 64, 16),
    l1_bytes_per_cycle=128, shared_bytes_per_cycle=128, l2_bytes_per_cycle=64,
    alu_latency=4, special_latency=21, warp_latency=23, fp64_latency=8, shared_latency=19, l1_latency=28,
    constant_latency=27, barrier_latency=20, barrier_warp_cycles=2,
    sources=_COMMON | {
        "l1_bytes": V100, "issue": V100 + ": four schedulers", "l1_bytes_per_cycle": V100, "shared_bytes_per_cycle": V100,
        "alu_latency": VOLTA, "special_latency": ACCEL, "shared_latency": VOLTA, "l1_latency": VOLTA,
        "fp64_latency": VOLTA, "constant_latency": VOLTA,
    },
)  # fmt: skip
TURING_SM = Multiprocessor(
    warps=32, blocks=16, registers=65536, register_unit=256, partitions=4, registers_per_thread=255,
    shared_bytes=64 * KIB, shared_per_block=64 * KIB, shared_unit=256, shared_reserved=0,
    carveouts=tuple(k * KIB for k in (32, 64)),
    l1_bytes=96 * KIB, issue=4.0, rates=_rates(64, 64, 64, 2, 64, 16, 16),
    l1_bytes_per_cycle=64, shared_bytes_per_cycle=64, l2_bytes_per_cycle=64,
    alu_latency=4, special_latency=21, warp_latency=23, fp64_latency=40, shared_latency=19, l1_latency=32,
    constant_latency=26, barrier_latency=20, barrier_warp_cycles=2,
    sources=_COMMON | {
        "l1_bytes": TURING_PAPER, "issue": TURING_PAPER + ": four schedulers",
        "l1_bytes_per_cycle": GA102 + ": 64 bytes per clock in Turing", "shared_bytes_per_cycle": GA102 + ", likewise",
        "alu_latency": TURING, "special_latency": ACCEL_SMALL, "shared_latency": TURING, "l1_latency": TURING,
        "constant_latency": TURING,
    },
)  # fmt: skip
AMPERE_SM = Multiprocessor(
    warps=64, blocks=32, registers=65536, register_unit=256, partitions=4, registers_per_thread=255,
    shared_bytes=164 * KIB, shared_per_block=163 * KIB, shared_unit=128, shared_reserved=KIB,
    carveouts=tuple(k * KIB for k in (0, 8, 16, 32, 64, 100, 132, 164)),
    l1_bytes=192 * KIB, issue=4.0, rates=_rates(64, 64, 64, 32, 128, 16),
    l1_bytes_per_cycle=128, shared_bytes_per_cycle=128, l2_bytes_per_cycle=64,
    alu_latency=4, special_latency=23, warp_latency=23, fp64_latency=8, shared_latency=29, l1_latency=38,
    constant_latency=27, barrier_latency=20, barrier_warp_cycles=2,
    sources=_COMMON | {
        "l1_bytes": A100, "issue": A100 + ": four schedulers", "l1_bytes_per_cycle": A100, "shared_bytes_per_cycle": A100,
        "alu_latency": AMPERE, "special_latency": ACCEL, "shared_latency": HOPPER, "l1_latency": HOPPER,
    },
)  # fmt: skip
AMPERE_SMALL_SM = Multiprocessor(
    warps=48, blocks=16, registers=65536, register_unit=256, partitions=4, registers_per_thread=255,
    shared_bytes=100 * KIB, shared_per_block=99 * KIB, shared_unit=128, shared_reserved=KIB,
    carveouts=tuple(k * KIB for k in (0, 8, 16, 32, 64, 100)),
    l1_bytes=128 * KIB, issue=4.0, rates=_rates(128, 64, 64, 2, 64, 16, 16),
    l1_bytes_per_cycle=128, shared_bytes_per_cycle=128, l2_bytes_per_cycle=64,
    alu_latency=4, special_latency=21, warp_latency=23, fp64_latency=40, shared_latency=29, l1_latency=39,
    constant_latency=27, barrier_latency=20, barrier_warp_cycles=2,
    sources=_COMMON | {
        "l1_bytes": GA102, "issue": GA102 + ": four schedulers",
        "l1_bytes_per_cycle": GA102 + ": 128 bytes per clock", "shared_bytes_per_cycle": GA102 + ": 128 bytes per clock",
        "alu_latency": AMPERE, "special_latency": ACCEL_SMALL, "shared_latency": ACCEL_SMALL, "l1_latency": ACCEL_SMALL,
    },
)  # fmt: skip
ADA_SM = replace(
    AMPERE_SMALL_SM, blocks=24, shared_latency=30, l1_latency=43,
    sources=dict(AMPERE_SMALL_SM.sources) | {
        "l1_bytes": ADA_PAPER, "issue": ADA_PAPER + ": four schedulers",
        "l1_bytes_per_cycle": "as the GA102's: " + GA102, "shared_bytes_per_cycle": "as the GA102's: " + GA102,
        "shared_latency": HOPPER, "l1_latency": HOPPER, "special_latency": "as the GA102's: " + ACCEL_SMALL,
    },
)  # fmt: skip
HOPPER_SM = Multiprocessor(
    warps=64, blocks=32, registers=65536, register_unit=256, partitions=4, registers_per_thread=255,
    shared_bytes=228 * KIB, shared_per_block=227 * KIB, shared_unit=128, shared_reserved=KIB,
    carveouts=tuple(k * KIB for k in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)),
    l1_bytes=256 * KIB, issue=4.0, rates=_rates(128, 64, 64, 64, 128, 32),
    l1_bytes_per_cycle=128, shared_bytes_per_cycle=128, l2_bytes_per_cycle=64,
    alu_latency=4, special_latency=23, warp_latency=23, fp64_latency=8, shared_latency=23, l1_latency=33,
    constant_latency=27, barrier_latency=4, barrier_warp_cycles=2,
    sources=_COMMON | {
        "l1_bytes": H100, "issue": H100 + ": four schedulers", "l1_bytes_per_cycle": H100, "shared_bytes_per_cycle": H100,
        "alu_latency": ACCEL, "special_latency": ACCEL, "shared_latency": MEASURED, "l1_latency": MEASURED,
        "fp64_latency": MEASURED, "constant_latency": MEASURED, "barrier_latency": MEASURED, "barrier_warp_cycles": MEASURED,
    },
)  # fmt: skip


def _sources(paper: str, **others: str) -> dict[str, str]:
    fields = ("multiprocessors", "clock_mhz", "l2_bytes", "dram_gb_per_s", "memory_bytes", "memory_bus_bits")
    usual = {
        "launch_us": ASSUMED,
        "block_cycles": "as the H200's; " + ASSUMED,
        "wait_norm": STREAMS,
        "l2_ways": ASSUMED,
        "copy_engines": PROPERTIES,
        "host_gb_per_s": LINK,
    }
    return usual | dict.fromkeys(fields, paper) | others


SLICES_32 = "32 bytes per cycle for each of 4 slices to a memory controller; " + ASSUMED
AS_A40 = BENCHES + ": 2,300 GB/s at 1740 MHz"
AS_L40 = BENCHES + ": 5,230 GB/s at 2490 MHz"
BY_CONTROLLERS = ", scaled by memory controllers"

GPUS: dict[str, Gpu] = {
    g.name: g
    for g in (
        Gpu(
            "p100", "NVIDIA Tesla P100 SXM2 16 GB", "sm_60", PASCAL_SM, multiprocessors=56, clock_mhz=1480,
            l2_bytes=4 * MIB, l2_ways=16, l2_bytes_per_cycle=1223, dram_gb_per_s=732, memory_bytes=16 << 30,
            l2_latency=234, dram_latency=440, launch_us=5.0,
            memory_bus_bits=4096, copy_engines=2, host_gb_per_s=12.6,
            sources=_sources(
                P100, l2_latency=VOLTA, dram_latency=ASSUMED, l2_bytes_per_cycle=VOLTA + ": 1624 GB/s at 1328 MHz"
            ),
        ),
        Gpu(
            "v100", "NVIDIA Tesla V100 SXM2 16 GB", "sm_70", VOLTA_SM, multiprocessors=80, clock_mhz=1530,
            l2_bytes=6 * MIB, l2_ways=16, l2_bytes_per_cycle=2048, dram_gb_per_s=900, memory_bytes=16 << 30,
            l2_latency=193, dram_latency=375, launch_us=3.5,
            memory_bus_bits=4096, copy_engines=6, host_gb_per_s=12.6,
            sources=_sources(V100, l2_latency=VOLTA, dram_latency=VOLTA, l2_bytes_per_cycle=A100, l2_ways=VOLTA),
        ),
        Gpu(
            "a100", "NVIDIA A100 SXM4 40 GB", "sm_80", AMPERE_SM, multiprocessors=108, clock_mhz=1410,
            l2_bytes=40 * MIB, l2_ways=16, l2_bytes_per_cycle=5120, dram_gb_per_s=1555, memory_bytes=40 << 30,
            l2_latency=262, dram_latency=466, launch_us=3.0,
            memory_bus_bits=5120, copy_engines=3, host_gb_per_s=25.2,
            sources=_sources(A100, l2_latency=HOPPER, dram_latency=HOPPER, l2_bytes_per_cycle=A100),
        ),
        Gpu(
            "h100", "NVIDIA H100 SXM5 80 GB", "sm_90", HOPPER_SM, multiprocessors=132, clock_mhz=1980,
            l2_bytes=50 * MIB, l2_ways=16, l2_bytes_per_cycle=4150, dram_gb_per_s=3350, memory_bytes=80 << 30,
            l2_latency=275, dram_latency=680, launch_us=3.2,
            memory_bus_bits=5120, copy_engines=3, host_gb_per_s=50.4, wait_norm=1,
            sources=_sources(
                H100, l2_latency=MEASURED_H100, dram_latency=MEASURED_H100, clock_mhz=PROPERTIES, launch_us=MEASURED_H100,
                l2_bytes_per_cycle=MEASURED_H100, block_cycles=MEASURED_H100, wait_norm=MEASURED_H100,
            ),
        ),
        Gpu(
            "h200", "NVIDIA H200 SXM 141 GB", "sm_90", HOPPER_SM, multiprocessors=132, clock_mhz=1980,
            l2_bytes=60 * MIB, l2_ways=16, l2_bytes_per_cycle=4700, dram_gb_per_s=4800, memory_bytes=141 << 30,
            l2_latency=275, dram_latency=660, launch_us=2.9,
            memory_bus_bits=6144, copy_engines=3, host_gb_per_s=50.4, wait_norm=1,
            sources=_sources(
                H200, l2_latency=MEASURED, dram_latency=MEASURED, launch_us=MEASURED, l2_bytes_per_cycle=MEASURED,
                block_cycles=MEASURED, wait_norm=MEASURED, clock_mhz=PROPERTIES, l2_bytes=PROPERTIES, multiprocessors=PROPERTIES,
            ),
        ),
        Gpu(
            "t4", "NVIDIA Tesla T4 16 GB", "sm_75", TURING_SM, multiprocessors=40, clock_mhz=1590,
            l2_bytes=4 * MIB, l2_ways=16, l2_bytes_per_cycle=1024, dram_gb_per_s=320, memory_bytes=16 << 30,
            l2_latency=188, dram_latency=375, launch_us=3.5,
            memory_bus_bits=256, copy_engines=3, host_gb_per_s=12.6,
            sources=_sources(
                T4, l2_latency=TURING, dram_latency="as the V100's; " + ASSUMED, l2_bytes=TURING, l2_bytes_per_cycle=SLICES_32
            ),
        ),
        Gpu(
            "rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", "sm_75", TURING_SM, multiprocessors=68, clock_mhz=1545,
            l2_bytes=5632 * KIB, l2_ways=16, l2_bytes_per_cycle=1408, dram_gb_per_s=616, memory_bytes=11 << 30,
            l2_latency=188, dram_latency=375, launch_us=3.5,
            memory_bus_bits=352, copy_engines=3, host_gb_per_s=12.6,
            sources=_sources(
                TURING_PAPER, l2_latency="as the T4's: " + TURING, dram_latency="as the V100's; " + ASSUMED,
                l2_bytes_per_cycle=SLICES_32,
            ),
        ),
        Gpu(
            "titan-rtx", "NVIDIA TITAN RTX", "sm_75", TURING_SM, multiprocessors=72, clock_mhz=1770,
            l2_bytes=6 * MIB, l2_ways=16, l2_bytes_per_cycle=1536, dram_gb_per_s=672, memory_bytes=24 << 30,
            l2_latency=188, dram_latency=375, launch_us=3.5,
            memory_bus_bits=384, copy_engines=3, host_gb_per_s=12.6,
            sources=_sources(
                TURING_PAPER, l2_latency="as the T4's: " + TURING, dram_latency="as the V100's; " + ASSUMED,
                l2_bytes_per_cycle=SLICES_32,
            ),
        ),
        *(
            Gpu(
                name, title, "sm_86", AMPERE_SMALL_SM, multiprocessors=multiprocessors, clock_mhz=clock_mhz,
                l2_bytes=l2_bytes * MIB, l2_ways=16, l2_bytes_per_cycle=l2_bytes_per_cycle, dram_gb_per_s=dram_gb_per_s,
                memory_bytes=gigabytes << 30, l2_latency=262, dram_latency=466, launch_us=3.0,
                memory_bus_bits=bits, copy_engines=2, host_gb_per_s=25.2,
                sources=_sources(
                    paper, l2_latency="as the A100's; " + ASSUMED, dram_latency="as the A100's; " + ASSUMED,
                    l2_bytes_per_cycle=AS_A40 + (BY_CONTROLLERS if bits != 384 else ""), l2_bytes=GA102,
                ),
            )
            for name, title, multiprocessors, clock_mhz, l2_bytes, l2_bytes_per_cycle, dram_gb_per_s, gigabytes, bits, paper in (
                ("a4000", "NVIDIA RTX A4000", 48, 1560, 4, 880, 448, 16, 256, A4000),
                ("a10", "NVIDIA A10", 72, 1695, 6, 1320, 600, 24, 384, A10),
                ("rtx3090", "NVIDIA GeForce RTX 3090", 82, 1695, 6, 1320, 936, 24, 384, GA102),
                ("a6000", "NVIDIA RTX A6000", 84, 1800, 6, 1320, 768, 48, 384, GA102),
            )
        ),
        *(
            Gpu(
                name, title, "sm_89", ADA_SM, multiprocessors=multiprocessors, clock_mhz=clock_mhz,
                l2_bytes=l2_bytes * MIB, l2_ways=16, l2_bytes_per_cycle=l2_bytes_per_cycle, dram_gb_per_s=dram_gb_per_s,
                memory_bytes=gigabytes << 30, l2_latency=l2_latency, dram_latency=dram_latency, launch_us=2.5,
                memory_bus_bits=bits, copy_engines=2, host_gb_per_s=25.2,
                sources=_sources(
                    paper, l2_latency=measured, dram_latency=measured,
                    l2_bytes_per_cycle=AS_L40 + (BY_CONTROLLERS if bits != 384 else ""),
                ),
            )
            for name, title, multiprocessors, clock_mhz, l2_bytes, l2_bytes_per_cycle, dram_gb_per_s, gigabytes, l2_latency,
            dram_latency, bits, paper, measured in (
                ("l4", "NVIDIA L4", 58, 2040, 48, 1050, 300, 24, 276, 632, 192, L4, BENCHES),
                ("rtx4090", "NVIDIA GeForce RTX 4090", 128, 2520, 72, 2100, 1008, 24, 273, 541, 384, ADA_PAPER, HOPPER),
                ("l40s", "NVIDIA L40S", 142, 2520, 96, 2100, 864, 48, 276, 632, 384, L40S, BENCHES),
            )
        ),
    )
}  # fmt: skip
DEFAULT_GPU = "h200"


OWN = "or a TOML file that describes one"


def gpu(name: str) -> Gpu:
    """The GPU called ``name``, or described there as ``gpu_text.py`` says. Raises ``Misuse`` with the names there are."""
    return GPUS.get(name.lower()) or (_read(name) if _is_file(name) else _kept(name))


def _is_file(name: str) -> bool:
    return name.endswith((".toml", ".json")) or ".toml@" in name


def _read(name: str) -> Gpu:
    words = read_gpu(name)
    found = GPUS.get((words.like or words.name).lower())
    if found is None:
        what = (
            f"{words.place}: it is like {words.like!r}, which is unknown"
            if words.like
            else f"unknown GPU {words.name!r}"
        )
        asked = (words.like or words.name).lower()
        near = [each for each in GPUS if asked and asked in each]
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise Misuse(what, hint=f"{meant}choose one of {', '.join(GPUS)}, {OWN}")
    if words.like and words.name.lower() in GPUS:
        raise Misuse(f"{words.place}: {words.name!r} is a GPU of the table", hint="give yours another name")
    return with_calibration(with_figures(found, words), words.calibration)


_kept = functools.lru_cache(_read)


def gpu_called(title: str) -> Gpu | None:
    """The GPU of the table that a driver or a data sheet calls so: ``NVIDIA GeForce RTX 2080 Ti``, ``NVIDIA A100-PCIE-40GB``."""
    words = title.lower().replace("-", " ").split()
    runs = {"".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    return next((g for g in GPUS.values() if g.name.replace("-", "") in runs), None)


def stand_ins(arch: str) -> tuple[str, ...]:
    """Architectures whose machine code may stand for ``arch``, best first: itself, then the oldest newer ones.

    Assemblers drop old architectures; a figure from a stand-in says so. From sm_70 on, because older machine code is not read.
    """
    wanted = architecture(arch).number
    known = sorted({a.number for a in ARCHITECTURES.values() if a.name[-1].isdigit()})
    own = (arch,) if wanted >= OLDEST_MACHINE_CODE else ()
    newer = [f"sm_{n}" for n in known if n > wanted and n >= OLDEST_MACHINE_CODE and f"sm_{n}" != "sm_72"]
    return (*own, *newer[:3])


OLDEST_MACHINE_CODE = 70
"""Before sm_70 an instruction took 8 bytes and had other opcodes, which nothing here reads."""
