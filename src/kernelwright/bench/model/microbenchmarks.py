"""Microbenchmarks: what the whole model makes of a GPU's figures, and what a GPU does, in the units that measurements are published in.

latency of L1, L2, memory, shared memory, constants, a multiply-add    cycles between two steps of a chain
bandwidth of L1                                                        bytes in a cycle on a multiprocessor
bandwidth of L2                                                        bytes in a cycle
streams                                                                GB/s, of what the kernel reads and writes
launch                                                                 us of a kernel of 4,096 threads
atomics                                                                additions in a nanosecond, or operations of L2
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernelwright.target import WARP, Gpu

SOURCE = "rates.cu"
STRIDE = 128
"""Of pointers that are followed: each lies in a line of its own."""
SEED = 1
MIB = 1 << 20
STREAM = 16 * MIB
"""Elements of a stream's arrays, of 8 bytes each: no cache holds them."""
BLOCK = 1024


class Time(Protocol):
    """Of one launch, in microseconds: of the kernel alone, and with what it takes to start it."""

    @property
    def kernel_us(self) -> float:
        """Microseconds of the kernel alone."""

    @property
    def time_us(self) -> float:
        """Microseconds with what it takes to start the kernel."""


class Kernels(Protocol):
    """The kernels of ``SOURCE`` on a GPU that begins with cold caches; addresses are numbers."""

    def array(self, contents: npt.NDArray[Any]) -> int:
        """The device address of a copy of ``contents``."""

    def write(self, address: int, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to a device address."""

    def zeros(self, size: int) -> int:
        """The device address of ``size`` bytes of zeros."""

    def constant(self, name: str, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to the device variable ``name``."""

    def launch(self, kernel: str, grid: int, block: int, *arguments: int | float) -> tuple[Any, Time]:
        """Runs a kernel on a line of ``grid`` blocks of ``block`` threads; what was counted, if anything, and its time."""

    def sampled(self, kernel: str, grid: int, block: int, *arguments: int | float) -> Time:
        """The time of a launch; on a virtual GPU it is estimated from some of the blocks."""


class Bench(Protocol):
    """A GPU, virtual or real, by its figures."""

    @property
    def gpu(self) -> Gpu:
        """Its figures."""

    def kernels(self) -> AbstractContextManager[Kernels]:
        """The kernels with cold caches; leaving the ``with`` frees their memory."""


def l1_latency(bench: Bench) -> float:
    """Of a warp that has the GPU for itself."""
    return _followed(bench, 16 << 10, rounds=2)


def l1_latency_full(bench: Bench) -> float:
    """Of a warp of a block as large as there can be."""
    return _followed(bench, 16 << 10, rounds=2, block=BLOCK)


def l2_latency(bench: Bench) -> float:
    """Cycles that a load waits that finds its sector in L2."""
    return _followed(bench, 2 * MIB, rounds=2)


def memory_latency(bench: Bench) -> float:
    """Of lines that nothing has asked for before."""
    return _followed(bench, MIB, rounds=0)


def _followed(bench: Bench, size: int, rounds: int, block: int = 1) -> float:
    """Cycles from one pointer to the next, in a random order through ``size`` bytes; from the second round on, or for 0 in the first."""
    lines = size // STRIDE
    order = np.random.default_rng(SEED).permutation(lines)

    def cycles(steps: int) -> float:
        with bench.kernels() as kernels:
            base = kernels.zeros(size)
            pointers = np.zeros(size // 8, np.uint64)
            pointers[order * (STRIDE // 8)] = base + np.roll(order, -1).astype(np.uint64) * STRIDE
            kernels.write(base, pointers)
            first = base + int(order[0]) * STRIDE
            return _cycles(kernels.launch("chase", 1, block, first, kernels.zeros(8), steps)[1], bench.gpu)

    if rounds:
        return (cycles((1 + rounds) * lines) - cycles(lines)) / (rounds * lines)
    return (cycles(lines) - cycles(lines // 2)) / (lines - lines // 2)


def shared_latency(bench: Bench) -> float:
    """Cycles that a load of shared memory waits."""
    return _chained(bench, "chase_shared", lambda kernels: (kernels.array(_ring()), kernels.zeros(4)))


def constant_latency(bench: Bench) -> float:
    """Cycles that a load of constant memory waits."""
    return _chained(bench, "chase_constant", lambda kernels: (kernels.zeros(4),))


def fma_latency(bench: Bench) -> float:
    """Cycles of a single-precision multiply-add that waits for the one before."""
    return _chained(bench, "chain_fma", lambda kernels: (kernels.zeros(4 * WARP),))


def dfma_latency(bench: Bench) -> float:
    """Cycles of a double-precision multiply-add that waits for the one before."""
    return _chained(bench, "chain_dfma", lambda kernels: (kernels.zeros(8 * WARP),))


def _chained(bench: Bench, kernel: str, arguments: Callable[[Kernels], tuple[int, ...]]) -> float:
    """Cycles of a step, of one warp."""

    def cycles(steps: int) -> float:
        with bench.kernels() as kernels:
            kernels.constant("table", _ring())
            return _cycles(kernels.launch(kernel, 1, WARP, *arguments(kernels), steps)[1], bench.gpu)

    return (cycles(4096) - cycles(1024)) / 3072


def _ring() -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Offsets that lead from one word to the next, and back to the first."""
    return (np.arange(1, 65, dtype=np.uint32) % 64) * 4


def l1_bandwidth(bench: Bench) -> float:
    """Of one block of 256 threads on each multiprocessor."""
    return _read_again(bench, 256)


def l1_bandwidth_full(bench: Bench) -> float:
    """Of one block as large as there can be on each multiprocessor."""
    return _read_again(bench, BLOCK)


def _read_again(bench: Bench, block: int) -> float:
    """48 KiB read by one block of each multiprocessor, over and over."""
    size = 48 << 10

    def cycles(times: int) -> float:
        with bench.kernels() as kernels:
            given = kernels.zeros(size), kernels.zeros(4 * BLOCK), times, 0
            kernel = f"read_again{block}"
            return _cycles(kernels.launch(kernel, bench.gpu.multiprocessors, block, *given)[1], bench.gpu)

    return 64 * size / (cycles(96) - cycles(32))


def l2_bandwidth(bench: Bench) -> float:
    """A set of 4 MiB in L2, half of L2 where that is less, read some eight times by blocks that have a part each."""
    size = min(4 * MIB, bench.gpu.l2_bytes // 2)
    each = 8
    part = each * BLOCK * 8
    with bench.kernels() as kernels:
        given = kernels.zeros(size), kernels.zeros(8 * BLOCK), size // part, each
        blocks = -(-8 * size // part // bench.gpu.multiprocessors) * bench.gpu.multiprocessors
        kernels.launch("read_set", blocks, BLOCK, *given)
        return blocks * part / _cycles(kernels.launch("read_set", blocks, BLOCK, *given)[1], bench.gpu)


STREAMS = {"init": (1, 1), "read": (2, 1), "scale": (2, 2), "triad": (3, 3)}
"""Arrays that each takes, and how many of them it goes through."""


def stream_bandwidth(kernel: str) -> Callable[[Bench], float]:
    """A measurement of what a kernel moves to and from memory, in GB/s."""
    arrays, moved = STREAMS[kernel]

    def measured(bench: Bench) -> float:
        with bench.kernels() as kernels:
            given = [kernels.zeros(8 * STREAM) for _ in range(arrays)]
            found = kernels.sampled(f"stream_{kernel}", STREAM // BLOCK, BLOCK, *given)
        return 8 * STREAM * moved / found.kernel_us / 1000

    return measured


def launch_us(bench: Bench) -> float:
    """Of a kernel that reads and writes 32 KiB, which L2 holds already."""
    with bench.kernels() as kernels:
        given = kernels.zeros(32 << 10), kernels.zeros(32 << 10)
        kernels.launch("stream_scale", 16, 256, *given)
        return kernels.launch("stream_scale", 16, 256, *given)[1].time_us


def atomic_rate(words: int) -> Callable[[Bench], float]:
    """Additions of lanes in a nanosecond, to one of so many words each."""
    blocks, threads = 2048, 256

    def measured(bench: Bench) -> float:
        with bench.kernels() as kernels:
            found = kernels.launch("add", blocks, threads, kernels.zeros(4 * words), words)[1]
        return blocks * threads / found.kernel_us / 1000

    return measured


def atomic_rate_of(kernel: str, words: int, apart: int = 1) -> Callable[[Bench], float]:
    """The same by another kernel: to words that lie ``apart`` from each other, of floats, with the old value read."""
    blocks, threads = 2048, 256

    def measured(bench: Bench) -> float:
        with bench.kernels() as kernels:
            more = {"add_apart": (apart,), "add_read": (kernels.zeros(4),)}.get(kernel, ())
            to = kernels.zeros(4 * words * apart)
            many, few = (kernels.launch(kernel, n * blocks, threads, to, words, *more)[1].kernel_us for n in (3, 1))
        return 2 * blocks * threads / (many - few) / 1000

    return measured


def shared_atomics(kernel: str, words: int) -> Callable[[Bench], float]:
    """Additions of lanes to shared memory, in a cycle on a multiprocessor, to one of so many words of a block each."""
    return lambda bench: _in_a_cycle(bench, kernel, 256, lambda k, times: (k.zeros(4), words, times), BLOCK)


def shared_reads(apart: int) -> Callable[[Bench], float]:
    """Lanes that read shared memory, in a cycle on a multiprocessor, words ``apart``."""
    return lambda bench: _in_a_cycle(
        bench, "read_shared", 2048, lambda k, times: (k.zeros(4 * BLOCK), times, apart, 0), BLOCK
    )


def wide_shared_reads(words: int, group: int, period: int) -> Callable[[Bench], float]:
    """Lanes that read ``words`` (2, 4) floats of shared memory at once, in a cycle on a multiprocessor. ``group`` neighbours read the
    same ones, and so do lanes whose group is ``period`` groups further."""
    return lambda bench: _in_a_cycle(
        bench,
        f"read_shared_{words}",
        2048,
        lambda k, times: (k.zeros(4 * BLOCK), times, group, period, 0),
        BLOCK,
    )


FLOATS = frozenset(
    {
        f"unit_{name}"
        for name in (
            "fma",
            "add",
            "rsqrt",
            "exp",
            "sqrt",
            "div",
            "convert",
            "branch",
            "div_zero",
            "sqrt_zero",
            "rcp",
            "rcp_large",
        )
    }
    | {f"round_{name}" for name in ("fadd", "fmin", "fless", "half")}
)
"""Kernels of units that take floats."""
DOUBLES = frozenset({"unit_dfma", "unit_ddiv", "unit_ddiv_zero"})


def unit_rate(kernel: str) -> Callable[[Bench], float]:
    """Operations of lanes in a cycle on a multiprocessor whose warps have four chains each."""
    what = {"unit_long": "i8"}.get(kernel, "f8" if kernel in DOUBLES else "f4" if kernel in FLOATS else "i4")
    values = np.arange(1, BLOCK + 1).astype(what)
    return lambda bench: _in_a_cycle(bench, kernel, 1024, lambda k, steps: (k.array(values), steps), 4 * BLOCK)


def constant_rate(size: int) -> Callable[[Bench], float]:
    """Lanes in a cycle on a multiprocessor whose warps read, all lanes alike, from a set of so many bytes of constant memory."""
    return lambda bench: _in_a_cycle(
        bench, "read_constants", 1024, lambda k, times: (k.zeros(4 * BLOCK), times, size // 4), BLOCK
    )


def barrier_cycles(threads: int) -> Callable[[Bench], float]:
    """Cycles of a barrier of a block that has a multiprocessor for itself."""

    def measured(bench: Bench) -> float:
        return threads / _in_a_cycle(bench, "meet", 2048, lambda k, times: (k.zeros(4), times), threads, threads)

    return measured


def _in_a_cycle(
    bench: Bench,
    kernel: str,
    times: int,
    arguments: Callable[[Kernels, int], tuple[int, ...]],
    of_a_step: int,
    block: int = BLOCK,
) -> float:
    """What one block on each multiprocessor does in a cycle: ``of_a_step`` operations in each of ``times`` steps."""

    def cycles(steps: int) -> float:
        with bench.kernels() as kernels:
            given = arguments(kernels, steps)
            return _cycles(kernels.launch(kernel, bench.gpu.multiprocessors, block, *given)[1], bench.gpu)

    return 2 * times * of_a_step / (cycles(3 * times) - cycles(times))


def block_cycles(threads: int) -> Callable[[Bench], float]:
    """Cycles that a multiprocessor takes for a block that does nothing."""

    def measured(bench: Bench) -> float:
        many = 256 * bench.gpu.multiprocessors
        with bench.kernels() as kernels:
            more, fewer = (kernels.launch("nothing", n * many, threads, kernels.zeros(4))[1].kernel_us for n in (3, 1))
        return (more - fewer) * bench.gpu.clock_mhz / 512

    return measured


def stream_sum(each: int, threads: int, size: int = STREAM) -> Callable[[Bench], float]:
    """GB/s of blocks of so many threads that read some doubles each, of ``size`` in all."""

    def measured(bench: Bench) -> float:
        name = f"stream_sum{each}" if each > 1 else "stream_read"
        with bench.kernels() as kernels:
            given = [kernels.zeros(8 * size) for _ in range(2)]
            found = kernels.sampled(name, size // threads // each, threads, *given)
        return 8 * size / found.kernel_us / 1000

    return measured


def l2_rate(each_mib: int, threads: int) -> Callable[[Bench], float]:
    """Bytes in a cycle from a set of so many MiB in L2, by blocks of so many threads; from the difference of two launches."""
    each = 8

    def measured(bench: Bench) -> float:
        part = each * threads * 8
        blocks = 4 * each_mib * MIB // part
        with bench.kernels() as kernels:
            given = kernels.zeros(each_mib * MIB), kernels.zeros(8 * BLOCK), each_mib * MIB // part, each
            kernels.launch("read_set", blocks, threads, *given)
            many, few = (_cycles(kernels.launch("read_set", n * blocks, threads, *given)[1], bench.gpu) for n in (3, 1))
        return 2 * blocks * part / (many - few)

    return measured


def atomic_operations(bench: Bench) -> float:
    """Operations of L2 for 163,840 threads that add to one word: a count, of a virtual GPU."""
    from kernelwright.device.timing_model.atomics import sector_operations

    with bench.kernels() as kernels:
        observed, _ = kernels.launch("add", 160, 1024, kernels.zeros(4), 1)
    return sum(sector_operations(observed, a) for a in observed.accesses if a.kind == "atomic")


def _cycles(found: Time, gpu: Gpu) -> float:
    """Of the kernel alone."""
    return found.kernel_us * gpu.clock_mhz
