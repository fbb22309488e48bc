"""Counters beside what they must be: launches whose requests, sectors, wavefronts, turns and instructions follow from a formula.

Formulas are of the hardware as NVIDIA's Nsight Compute documentation and the CUDA C++ Programming Guide describe it: a request of a warp
fetches each sector of 32 bytes once; shared memory has 32 banks of 4 bytes, and a request of 8 or 16 bytes a lane is served in halves
or quarters of the warp; lanes of an atomic that meet at an address, and lanes that ask for different constants, take turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from kernelwright.bench.model.timed_kernels import TimedKernels, counted
from kernelwright.bench.result import Row
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP, Gpu

SOURCE = "counted.cu"
SECTOR = 32
BANKS = 32
PER_TURN = 16
"""Instructions of a chain's turn, as ``counted.cu`` has it."""
GRID, BLOCK = 6, 64
WARPS = GRID * BLOCK // WARP


@dataclass(frozen=True)
class CountedLaunch:
    """A launch of ``GRID`` blocks; ``exact``: what its counters must say, by name. ``in_bytes``: how much it reads or writes at most."""

    kernel: str
    what: str
    exact: Mapping[str, int]
    numbers: tuple[int, ...] = ()
    arrays: int = 2
    grid: int = GRID
    block: int = BLOCK
    in_bytes: int = 1 << 20


def sectors(width: int, stride: int, offset: int, lanes: int = WARP) -> int:
    """Of a warp whose lanes read ``width`` bytes each, ``stride`` bytes apart, the first ``offset`` bytes behind a sector's start."""
    if not lanes:
        return 0
    if stride > SECTOR:
        return lanes
    return (offset + (lanes - 1) * stride + width - 1) // SECTOR - offset // SECTOR + 1


def wavefronts(width: int, stride: int) -> int:
    """Of a warp whose lanes ask shared memory for words of ``width`` bytes, ``stride`` words apart: a multiple of 4 bytes, or less."""
    if not stride:
        return 1
    parts = max(1, width // 4)
    if width < 4 and stride * width < 4:
        return 1
    return parts * math.gcd(stride * width // 4 // parts, BANKS // parts)


def launches() -> Iterator[CountedLaunch]:
    """Launches whose counters can be reckoned by hand, with these counts."""
    for width in (1, 2, 4, 8, 16):
        for stride, offset in ((1, 0), (1, 1), (1, 3), (2, 0), (3, 1), (8, 0), (33, 5), (0, 7)):
            each = sectors(width, stride * width, offset * width % SECTOR)
            yield CountedLaunch(
                f"copy{width}",
                f"{width} bytes a lane, stride {stride}, offset {offset}",
                {
                    "global load requests": WARPS, "global load sectors": WARPS * each,
                    "global store requests": WARPS, "global store sectors": WARPS * width,
                },
                (stride, offset),
            )  # fmt: skip
    for lanes in (0, 1, 7, 8, 9, 31, 32):
        each = sectors(4, 4, 0, lanes)
        asked = WARPS if lanes else 0
        yield CountedLaunch(
            "first_lanes",
            f"{lanes} of 32 lanes",
            {
                "global load requests": asked, "global load sectors": WARPS * each,
                "global store requests": asked, "global store sectors": WARPS * each,
            },
            (lanes,),
        )  # fmt: skip
    turns = [sectors(4, 4, 4 * (i + 1) % SECTOR, WARP - 1 - i) for i in range(WARP - 1)]
    yield CountedLaunch(
        "ragged",
        "lane l goes round l times",
        {
            "global load requests": WARPS * (WARP - 1), "global load sectors": WARPS * sum(turns),
            "global load lanes": WARPS * sum(range(WARP)), "global store requests": WARPS,
        },
    )  # fmt: skip
    for width in (1, 2, 4, 8, 16):
        for stride in (0, 1, 2, 3, 4, 5, 8, 16, 32, 33):
            if (width < 4 and stride * width % 4 and stride > 1) or (width > 4 and not stride):
                continue
            each = GRID * wavefronts(width, stride)
            yield CountedLaunch(
                f"banks{width}",
                f"{width} bytes a lane, stride {stride}",
                {
                    "shared load requests": GRID, "shared load wavefronts": each,
                    "shared store requests": GRID, "shared store wavefronts": each, "barriers of a block": 1,
                },
                (stride,),
                block=WARP,
            )  # fmt: skip
    for mask in (0, 1, 7, 31):
        meet = WARP // (mask + 1) - 1
        yield CountedLaunch(
            "add",
            f"{mask + 1} words of a warp",
            {
                "global atomic requests": WARPS, "global atomic further turns": WARPS * meet,
                "global atomic sectors": WARPS * sectors(4, 4, 0, mask + 1),
            },
            (mask,),
            arrays=1,
        )  # fmt: skip
        yield CountedLaunch(
            "add_shared",
            f"{mask + 1} words of a warp",
            {"shared atomic requests": GRID, "shared atomic further turns": GRID * meet, "barriers of a block": 2},
            (mask,),
            arrays=1,
            block=WARP,
        )
    for mask in (0, 1, 7, 31):
        yield CountedLaunch(
            "constants",
            f"{mask + 1} words of a warp",
            {"constant load further turns": WARPS * mask, "global store requests": WARPS},
            (mask,),
            arrays=1,
        )
    for kernel, kind in (("multiply_adds", "fp32"), ("double_multiply_adds", "fp64")):
        for number in (1, 5):
            exact = {f"{kind} instructions": WARPS * PER_TURN * number, "global load requests": WARPS}
            yield CountedLaunch(kernel, f"{number} turns of {PER_TURN}", exact, (number,), arrays=1)
    yield CountedLaunch("shuffles", f"{PER_TURN} in a row", {"warp instructions": WARPS * PER_TURN}, arrays=1)
    yield CountedLaunch(
        "every_second_warp", "5 turns of 16", {"fp32 instructions": WARPS // 2 * PER_TURN * 5}, (5,), arrays=1
    )
    yield CountedLaunch(
        "barriers",
        "5 turns of 2",
        {"barriers of a block": 10, "shared load requests": 5 * WARPS, "shared store wavefronts": 5 * WARPS},
        (5,),
        arrays=1,
    )


def counted_rows(gpu: Gpu, every: int = 1) -> list[Row]:
    """A row for each counter of every so many launches: what it must be, and what it is."""
    rows = []
    for launch in list(launches())[::every]:
        with TimedKernels(SOURCE, gpu) as kernels:
            kernels.constant("table", np.arange(64, dtype=np.float32))
            arrays = [kernels.zeros(launch.in_bytes) for _ in range(launch.arrays)]
            found = counted(*kernels.launch(launch.kernel, launch.grid, launch.block, *arrays, *launch.numbers))
        for name, exact in launch.exact.items():
            rows.append(
                {
                    "gpu": gpu.called,
                    "kernel": launch.kernel,
                    "launch": launch.what,
                    "counter": name,
                    "exact": exact,
                    "counted": found.get(name, 0),
                }
            )
    return rows
