"""How many thread blocks a multiprocessor holds at once, and how many rounds a launch takes. Rules: NVIDIA's occupancy
calculator, ``cuda_occupancy.h``."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.codegen.layout import round_up
from kernelwright.errors import DeviceError
from kernelwright.target import WARP, Gpu, Multiprocessor


@dataclass(frozen=True)
class Occupancy:
    """``blocks`` and ``warps`` resident on one multiprocessor; ``limit`` says what keeps it from more (``warps``, ``blocks``,
    ``registers``, ``shared memory``)."""

    blocks: int
    warps: int
    of_warps: int
    limit: str

    @property
    def share(self) -> float:
        """Resident warps as a share of the most there can be."""
        return self.warps / self.of_warps


def occupancy(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Of blocks of ``threads`` threads with ``registers`` per thread and ``shared_bytes`` (static and dynamic) per block.

    Raises ``DeviceError`` for a block that does not fit at all.
    """
    sm = gpu.sm
    warps = -(-threads // WARP)
    limits = {
        "warps": sm.warps // warps,
        "blocks": sm.blocks,
        "registers": _by_registers(sm, warps, registers),
        "shared memory": _by_shared(sm, shared_bytes),
    }
    blocks = min(limits.values())
    limit = next(name for name, n in limits.items() if n == blocks)
    if not blocks:
        raise DeviceError(
            f"a block of {threads} threads with {registers} registers each and {shared_bytes} bytes of shared memory "
            f"does not fit on a multiprocessor of {gpu.title}: too much {limit}",
            hint="use smaller blocks",
        )
    return Occupancy(blocks, blocks * warps, sm.warps, limit)


def l1_bytes(gpu: Gpu, blocks: int, shared_bytes: int) -> int:
    """What is left for the L1 cache beside ``blocks`` blocks with ``shared_bytes`` each: the driver gives shared memory the
    smallest part that holds them."""
    sm = gpu.sm
    if not sm.carveouts:
        return sm.l1_bytes
    needed = blocks * _allocated(sm, shared_bytes)
    return sm.l1_bytes - next((c for c in sm.carveouts if c >= needed), sm.carveouts[-1])


def _by_registers(sm: Multiprocessor, warps: int, registers: int) -> int:
    if registers > sm.registers_per_thread:
        return 0
    if not registers:
        return sm.blocks
    of_warp = round_up(registers * WARP, sm.register_unit)
    held = sm.registers // sm.partitions // of_warp * sm.partitions
    # A block is only started where its warps, spread evenly over the partitions, all find their registers.
    if of_warp * round_up(warps, sm.partitions) > sm.registers:
        return 0
    return held // warps


def _by_shared(sm: Multiprocessor, shared_bytes: int) -> int:
    if shared_bytes > sm.shared_per_block:
        return 0
    allocated = _allocated(sm, shared_bytes)
    return sm.shared_bytes // allocated if allocated else sm.blocks


def _allocated(sm: Multiprocessor, shared_bytes: int) -> int:
    return round_up(shared_bytes + sm.shared_reserved, sm.shared_unit) if shared_bytes + sm.shared_reserved else 0
