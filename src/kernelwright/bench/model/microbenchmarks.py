"""Microbenchmarks on the virtual GPU: what the whole model makes of a GPU's figures, in the units that measurements are published in.

latency of L1, L2, memory, shared memory, constants, a multiply-add    cycles between two steps of a chain
bandwidth of L1                                                        bytes in a cycle on a multiprocessor
bandwidth of L2                                                        bytes in a cycle
streams                                                                GB/s, of what the kernel reads and writes
launch                                                                 us of a kernel of 4,096 threads
atomics                                                                additions in a nanosecond, or operations of L2
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelwright.bench.model.timed_kernels import TimedKernels
from kernelwright.device.timing_model.atomics import word_operations
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.target import WARP, Gpu

SOURCE = "rates.cu"
STRIDE = 128
"""Of pointers that are followed: each lies in a line of its own."""
SEED = 1
MIB = 1 << 20
STREAM = 16 * MIB
"""Elements of a stream's arrays, of 8 bytes each: no cache holds them."""
BLOCK = 1024


def l1_latency(gpu: Gpu) -> float:
    """Of a warp that has the GPU for itself."""
    return _followed(gpu, 16 << 10, rounds=2)


def l1_latency_full(gpu: Gpu) -> float:
    """Of a warp of a block as large as there can be."""
    return _followed(gpu, 16 << 10, rounds=2, block=BLOCK)


def l2_latency(gpu: Gpu) -> float:
    return _followed(gpu, 2 * MIB, rounds=2)


def memory_latency(gpu: Gpu) -> float:
    """Of lines that nothing has asked for before."""
    return _followed(gpu, MIB, rounds=0)


def _followed(gpu: Gpu, size: int, rounds: int, block: int = 1) -> float:
    """Cycles from one pointer to the next, in a random order through ``size`` bytes; from the second round on, or for 0 in the first."""
    lines = size // STRIDE
    order = np.random.default_rng(SEED).permutation(lines)

    def cycles(steps: int) -> float:
        with TimedKernels(SOURCE, gpu) as kernels:
            base = kernels.zeros(size)
            pointers = np.zeros(size // 8, np.uint64)
            pointers[order * (STRIDE // 8)] = base + np.roll(order, -1).astype(np.uint64) * STRIDE
            kernels.write(base, pointers)
            first = base + int(order[0]) * STRIDE
            return _cycles(kernels.launch("chase", 1, block, first, kernels.zeros(8), steps)[1], gpu)

    if rounds:
        return (cycles((1 + rounds) * lines) - cycles(lines)) / (rounds * lines)
    return (cycles(lines) - cycles(lines // 2)) / (lines - lines // 2)


def shared_latency(gpu: Gpu) -> float:
    return _chained(gpu, "chase_shared", lambda kernels: (kernels.array(_ring()), kernels.zeros(4)))


def constant_latency(gpu: Gpu) -> float:
    return _chained(gpu, "chase_constant", lambda kernels: (kernels.zeros(4),))


def fma_latency(gpu: Gpu) -> float:
    return _chained(gpu, "chain_fma", lambda kernels: (kernels.zeros(4 * WARP),))


def dfma_latency(gpu: Gpu) -> float:
    return _chained(gpu, "chain_dfma", lambda kernels: (kernels.zeros(8 * WARP),))


def _chained(gpu: Gpu, kernel: str, arguments: Callable[[TimedKernels], tuple[int, ...]]) -> float:
    """Cycles of a step, of one warp."""

    def cycles(steps: int) -> float:
        with TimedKernels(SOURCE, gpu) as kernels:
            kernels.constant("table", _ring())
            return _cycles(kernels.launch(kernel, 1, WARP, *arguments(kernels), steps)[1], gpu)

    return (cycles(4096) - cycles(1024)) / 3072


def _ring() -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Offsets that lead from one word to the next, and back to the first."""
    return (np.arange(1, 65, dtype=np.uint32) % 64) * 4


def l1_bandwidth(gpu: Gpu) -> float:
    """Of one block of 256 threads on each multiprocessor."""
    return _read_again(gpu, 256)


def l1_bandwidth_full(gpu: Gpu) -> float:
    """Of one block as large as there can be on each multiprocessor."""
    return _read_again(gpu, BLOCK)


def _read_again(gpu: Gpu, block: int) -> float:
    """48 KiB read by one block of each multiprocessor, over and over."""
    size, times = 48 << 10, 32
    with TimedKernels(SOURCE, gpu) as kernels:
        given = kernels.zeros(size), kernels.zeros(4 * BLOCK), times, 0
        return times * size / _cycles(kernels.launch(f"read_again{block}", gpu.multiprocessors, block, *given)[1], gpu)


def l2_bandwidth(gpu: Gpu) -> float:
    """A set of 4 MiB in L2, half of L2 where that is less, read some eight times by blocks that have a part each."""
    size = min(4 * MIB, gpu.l2_bytes // 2)
    each = 8
    part = each * BLOCK * 8
    with TimedKernels(SOURCE, gpu) as kernels:
        given = kernels.zeros(size), kernels.zeros(8 * BLOCK), size // part, each
        blocks = -(-8 * size // part // gpu.multiprocessors) * gpu.multiprocessors
        kernels.launch("read_set", blocks, BLOCK, *given)
        return blocks * part / _cycles(kernels.launch("read_set", blocks, BLOCK, *given)[1], gpu)


STREAMS = {"init": (1, 1), "read": (2, 1), "scale": (2, 2), "triad": (3, 3)}
"""Arrays that each takes, and how many of them it goes through."""


def stream_bandwidth(kernel: str) -> Callable[[Gpu], float]:
    arrays, moved = STREAMS[kernel]

    def measured(gpu: Gpu) -> float:
        with TimedKernels(SOURCE, gpu) as kernels:
            given = [kernels.zeros(8 * STREAM) for _ in range(arrays)]
            found = kernels.sampled(f"stream_{kernel}", STREAM // BLOCK, BLOCK, *given)
        return 8 * STREAM * moved / found.kernel_us / 1000

    return measured


def launch_us(gpu: Gpu) -> float:
    """Of a kernel that reads and writes 32 KiB, which L2 holds already."""
    with TimedKernels(SOURCE, gpu) as kernels:
        given = kernels.zeros(32 << 10), kernels.zeros(32 << 10)
        kernels.launch("stream_scale", 16, 256, *given)
        return kernels.launch("stream_scale", 16, 256, *given)[1].time_us


def atomic_rate(words: int) -> Callable[[Gpu], float]:
    """Additions of lanes in a nanosecond, to one of so many words each."""
    blocks, threads = 2048, 256

    def measured(gpu: Gpu) -> float:
        with TimedKernels(SOURCE, gpu) as kernels:
            found = kernels.launch("add", blocks, threads, kernels.zeros(4 * words), words)[1]
        return blocks * threads / found.kernel_us / 1000

    return measured


def atomic_operations(gpu: Gpu) -> float:
    """Operations of L2 for 163,840 threads that add to one word."""
    with TimedKernels(SOURCE, gpu) as kernels:
        observed, _ = kernels.launch("add", 160, 1024, kernels.zeros(4), 1)
    return sum(word_operations(observed, a) for a in observed.accesses if a.kind == "atomic")


def _cycles(found: Estimate, gpu: Gpu) -> float:
    """Of the kernel alone."""
    return found.kernel_us * gpu.clock_mhz
