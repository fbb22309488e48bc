"""How many blocks of a kernel one multiprocessor holds at a time, by the rules of NVIDIA's occupancy calculator.

Source: cuda_occupancy.h of the CUDA toolkit; the figures are those of ``target.Multiprocessor``.
"""

from __future__ import annotations

from kernelwright.target import WARP, Gpu, Multiprocessor

MAX_THREADS = 1024
"""Threads of one block, on every GPU."""


def resident_blocks(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> int:
    """``registers`` per thread, 0 when it is unknown; ``shared_bytes`` per block, static and dynamic. 0: it does not fit."""
    sm = gpu.sm
    if not 0 < threads <= MAX_THREADS or shared_bytes > sm.shared_per_block:
        return 0
    warps = -(-threads // WARP)
    limits = [sm.blocks, sm.warps // warps]
    if registers:
        limits.append(_resident_warps(sm, registers) // warps)
    if shared_bytes + sm.shared_reserved:
        limits.append(sm.shared_bytes // _round_up(shared_bytes + sm.shared_reserved, sm.shared_unit))
    return min(limits)


def largest_block(gpu: Gpu, registers: int, bound: int = 0) -> int:
    """The most threads that a block can have. ``bound``: what the kernel was compiled for, 0 when nothing was said."""
    limit = bound or MAX_THREADS
    if registers:
        limit = min(limit, _resident_warps(gpu.sm, registers) * WARP)
    return min(limit, MAX_THREADS)


def _resident_warps(sm: Multiprocessor, registers: int) -> int:
    """Warps whose registers fit, each partition by itself."""
    per_warp = _round_up(registers * WARP, sm.register_unit)
    return sm.registers // sm.partitions // per_warp * sm.partitions


def _round_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
