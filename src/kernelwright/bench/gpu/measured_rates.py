"""The microbenchmarks of ``bench/model`` on the GPU: what it does, beside what the timing model makes of its figures.

FOLDER/rates/rates.json        kernels, the form of their parameters, what the virtual GPUs of its architectures say
FOLDER/rates/KEY.sm_90.cubin   machine code, as ``images.py`` has it

Each figure is the median of several goes, every go beginning with an empty L2. Cycles are those of the clock in the table.
"""

from __future__ import annotations

import json
import statistics
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy.typing as npt

from kernelwright.bench.gpu.images import ARCH, read_image, write_image
from kernelwright.bench.model import microbenchmarks as ours
from kernelwright.bench.model.published import OPERATIONS, PUBLISHED, Quantity
from kernelwright.bench.result import Measured, Say
from kernelwright.cache import content_key
from kernelwright.cuda.names import base_name
from kernelwright.device.real_gpu.gpu import CudaGpu, CudaLoaded, Work
from kernelwright.errors import KernelwrightError
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import GPUS, Gpu

_UNITS = [
    "fma",
    "add",
    "imad",
    "xor",
    "dfma",
    "rsqrt",
    "exp",
    "sqrt",
    "div",
    "idiv",
    "long",
    "shuffle",
    "convert",
    "popc",
    "branch",
    "div_zero",
    "sqrt_zero",
    "rcp",
    "rcp_large",
    "ddiv",
    "ddiv_zero",
]
_STEPS = ["add", "and", "shift", "min", "less", "fadd", "fmin", "fless", "mixed", "half"]
_LANES = "lanes per cycle and multiprocessor"
WIDE = {
    (1, 32): "all others",
    **{(n, 32): f"{n} neighbours the same" for n in (2, 4, 8, 16)},
    (32, 32): "all the same",
    **{(1, n): f"the same every {n} lanes" for n in (16, 8, 4, 2)},
    (2, 8): "2 neighbours and every 16 lanes the same",
    (2, 4): "2 neighbours and every 8 lanes the same",
    (4, 4): "4 neighbours and every 16 lanes the same",
}
"""Which lanes read the same: neighbours, and how many different groups of them there are."""
QUANTITIES: tuple[Quantity, ...] = (
    # A count of operations is the virtual GPU's alone.
    *dict.fromkeys(p.quantity for p in PUBLISHED if p.quantity is not OPERATIONS),
    *(Quantity(f"unit, {name}", _LANES, ours.unit_rate(f"unit_{name}")) for name in _UNITS),
    *(Quantity(f"shared memory, words {n} apart", _LANES, ours.shared_reads(n)) for n in (0, 1, 2, 4, 8, 16, 32, 33)),
    *(
        Quantity(
            f"shared memory, {4 * words} bytes a lane, {WIDE[group, period]}",
            _LANES,
            ours.wide_shared_reads(words, group, period),
        )
        for words in (2, 4)
        for group, period in WIDE
    ),
    *(Quantity(f"step, {name}", _LANES, ours.unit_rate(f"round_{name}")) for name in _STEPS),
    *(
        Quantity(f"atomics in shared memory, {what}, {n} words", _LANES, ours.shared_atomics(kernel, n))
        for what, kernel in (("ones", "add_shared"), ("values", "add_shared_value"), ("floats", "add_shared_float"))
        for n in (1, 2, 8, 32, 1024)
    ),
    *(
        Quantity(f"L2, a set of {n} MiB, blocks of {b}", "bytes per cycle", ours.l2_rate(n, b))
        for n in (4, 16, 32)
        for b in (256, 1024)
    ),
    *(Quantity(f"constants, a set of {n} KiB", _LANES, ours.constant_rate(n << 10)) for n in (1, 4, 32)),
    *(Quantity(f"barrier, {n} threads", "cycles", ours.barrier_cycles(n)) for n in (32, 64, 256, 1024)),
    *(Quantity(f"block that does nothing, {n} threads", "cycles", ours.block_cycles(n)) for n in (32, 128, 256, 1024)),
    *(
        Quantity(f"memory, {each} doubles a thread, blocks of {threads}", "GB/s", ours.stream_sum(each, threads))
        for each in (1, 2, 4, 8)
        for threads in (128, 256, 1024)
    ),
    *(
        Quantity(f"memory, {n} MiB, 4 doubles a thread, blocks of 256", "GB/s", ours.stream_sum(4, 256, n << 17))
        for n in (8, 32, 512, 2048)
    ),
    *(
        Quantity(f"atomics on {n:,} words, long", "G/s", ours.atomic_rate_of("add", n))
        for n in (1, 2, 4, 8, 16, 32, 64, 256, 4096, 65536, 1 << 19)
    ),
    *(
        Quantity(f"atomics on {n:,} words, {apart} apart", "G/s", ours.atomic_rate_of("add_apart", n, apart))
        for n in (1, 8, 32, 1024)
        for apart in (8, 32, 1024)
    ),
    *(Quantity(f"atomics on {n:,} floats", "G/s", ours.atomic_rate_of("add_float", n)) for n in (1, 32, 1024, 65536)),
    *(
        Quantity(f"atomics on {n:,} words, value read", "G/s", ours.atomic_rate_of("add_read", n))
        for n in (1, 32, 1024, 65536)
    ),
)
ESTIMATED = ("h100", "h200")
"""GPUs whose estimates are made beforehand."""
GOES = 7
EMPTY = ("chase", 1, 1)
"""A launch that does next to nothing: no steps."""
BEHIND = 100
"""Launches behind each other, of which one's time is taken."""
QUEUED_NS = 3_000_000
"""The GPU waits so long while they are queued."""
NAME = "rates.json"


def prepare_rates(folder: Path, say: Say, estimated: Sequence[str] = ESTIMATED) -> None:
    """Writes the folder. Raises ``CompileError`` when our own kernels do not compile."""
    from kernelwright.bench.model.timed_kernels import compiled
    from kernelwright.ir import PointerType

    unit = compiled(ours.SOURCE, ARCH).units[0]
    key = content_key([unit.optimised])[:16]
    write_image(folder, key, unit.optimised)
    forms = {}
    for kernel in unit.module.kernels:
        form = "".join("Q" if isinstance(p.type, PointerType) else "i" for p in kernel.arguments)
        forms[base_name(kernel.name)] = (kernel.name, f"<{form}")
    estimates: dict[str, dict[str, float]] = {}
    for name in estimated:
        for quantity in QUANTITIES:
            say(f"rates: {quantity.name}, {name}")
            estimates.setdefault(name, {})[quantity.name] = quantity.estimated(GPUS[name])
    (folder / NAME).write_text(json.dumps({"image": key, "kernels": forms, "estimates": estimates}, indent=1))


def run_rates(folder: Path, ordinal: int, model: str | None, say: Say) -> Measured:
    """A row for each quantity. In this process: kernels of our own, which end.

    ``model``: the GPU of the tables that this one is, or one of its architecture.
    """
    result = Measured("rates")
    content = json.loads((folder / NAME).read_text())
    cuda = CudaGpu(ordinal)
    try:
        image = read_image(folder, content["image"], cuda.arch)
        bench = RealBench(figures(cuda, model), cuda, cuda.load(image.data, NAME), content["kernels"])
        estimates = content["estimates"].get(model, {})
        for quantity in QUANTITIES:
            say(quantity.name)
            result.rows.append(_row(quantity, bench, estimates.get(quantity.name)))
        result.notes.append(f"a launch that does nothing: {bench.empty_us():.2f} us between two events")
    finally:
        cuda.close()
    return result


def figures(cuda: CudaGpu, model: str | None) -> Gpu:
    """The row of the table, with what the driver says of this GPU."""
    known = GPUS[model or ESTIMATED[-1]]
    told = cuda.properties
    return replace(known, multiprocessors=told.multiprocessors, l2_bytes=told.l2_bytes)


def _row(quantity: Quantity, bench: RealBench, estimate: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"rate": quantity.name, "unit": quantity.unit}
    try:
        goes = [quantity.on(bench) for _ in range(1 + GOES)][1:]  # the first loads code
    except KernelwrightError as error:
        return {**row, "failed": error.message}
    except ZeroDivisionError:
        return {**row, "failed": "more work takes no more time"}
    low, median, high = statistics.quantiles(goes, n=4, method="inclusive")
    row |= {"measured": float(f"{median:.4g}"), "middle half": [float(f"{low:.4g}"), float(f"{high:.4g}")]}
    if estimate is not None:
        row |= {"estimated": float(f"{estimate:.4g}"), "off %": round(100 * (estimate / median - 1), 1)}
    return row


@dataclass(frozen=True)
class RealTime:
    """``kernel_us``: between two events, without what a launch that does nothing takes there."""

    kernel_us: float
    behind_each_other: Callable[[], float]

    @property
    def time_us(self) -> float:
        """Of one of many launches behind each other."""
        return self.behind_each_other()


@dataclass(frozen=True)
class RealBench:
    """``kernels``: mangled name, and form of the parameters in the letters of ``struct``, by name."""

    gpu: Gpu
    cuda: CudaGpu
    loaded: CudaLoaded
    forms: Mapping[str, Sequence[str]]

    def kernels(self) -> RealKernels:
        """The kernels with memory of their own, to be used in a ``with``, which frees it."""
        return RealKernels(self)

    def empty_us(self) -> float:
        """Microseconds between two events around a kernel that does nothing: a median of five."""
        with self.kernels() as kernels:
            return kernels.empty_us


class RealKernels:
    """The kernels on the GPU, with memory of their own."""

    def __init__(self, bench: RealBench) -> None:
        self._bench = bench
        self._cuda = bench.cuda
        self._held: list[int] = []
        self._cold = True
        self.empty_us = 0.0

    def __enter__(self) -> Self:
        name, grid, block = EMPTY
        work = self._work(name, grid, block, (self.zeros(8), self.zeros(8), 0))
        self.empty_us = self._cuda.time([work], rounds=5)[0].median_us
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for address in self._held:
            self._cuda.free(address)

    def array(self, contents: npt.NDArray[Any]) -> int:
        """The device address of a copy of ``contents``, freed with the kernels."""
        address = self.zeros(contents.nbytes)
        self.write(address, contents)
        return address

    def write(self, address: int, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to a device address."""
        self._cuda.write(address, contents.tobytes())

    def zeros(self, size: int) -> int:
        """The device address of ``size`` bytes of zeros, freed with the kernels."""
        address = self._cuda.allocate(size)
        self._held.append(address)
        self._cuda.driver.fill(address, 0, size)
        return address

    def constant(self, name: str, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to the device variable ``name``, by its mangled name."""
        address, _ = self._cuda.variable(self._bench.loaded, name)
        self.write(address, contents)

    def launch(self, kernel: str, grid: int, block: int, *arguments: int | float) -> tuple[None, RealTime]:
        """Runs a kernel on a line of ``grid`` blocks of ``block`` threads. Its time is that between two events less that of an empty
        kernel; L2 is emptied before the first launch only. There are no counts."""
        work = self._work(kernel, grid, block, arguments)
        between = self._cuda.time([work], rounds=1, warmup=0, cold=self._cold)[0].median_us
        self._cold = False
        # A float of milliseconds has a last digit of half a nanosecond: a kernel that takes nothing takes that.
        return None, RealTime(
            max(between - self.empty_us, 1e-3), partial(self._cuda.queued_us, work, BEHIND, QUEUED_NS)
        )

    def sampled(self, kernel: str, grid: int, block: int, *arguments: int | float) -> RealTime:
        """The time of a launch: on a GPU the whole grid runs."""
        return self.launch(kernel, grid, block, *arguments)[1]

    def _work(self, kernel: str, grid: int, block: int, arguments: Sequence[int | float]) -> Work:
        name, form = self._bench.forms[kernel]
        return Work(
            self._bench.loaded, Launch(name, (grid, 1, 1), (block, 1, 1), struct.pack(form, *map(int, arguments)))
        )
