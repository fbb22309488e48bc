"""How many thread blocks a multiprocessor holds at once and what keeps it from more, and the L1 cache that is left."""

from __future__ import annotations

from kernelwright.codegen.memory_layout import round_up
from kernelwright.device.timing_model.resident_blocks import resident_blocks
from kernelwright.errors import DeviceError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import WARP, Gpu


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
    warps = -(-threads // WARP)
    blocks = resident_blocks(gpu, threads, registers, shared_bytes)
    alone = {
        "warps": gpu.sm.warps // warps,
        "blocks": gpu.sm.blocks,
        "registers": resident_blocks(gpu, threads, registers, 0),
        "shared memory": resident_blocks(gpu, threads, 0, shared_bytes),
    }
    limit = next(name for name, n in alone.items() if n <= blocks)
    if not blocks:
        raise DeviceError(
            f"a block of {threads} threads with {registers} registers each and {shared_bytes} bytes of shared memory "
            f"does not fit on a multiprocessor of {gpu.title}: too much {limit}",
            hint="use smaller blocks",
        )
    return Occupancy(blocks, blocks * warps, gpu.sm.warps, limit)


def l1_bytes(gpu: Gpu, blocks: int, shared_bytes: int) -> int:
    """What is left for the L1 cache beside ``blocks`` blocks with ``shared_bytes`` each: the driver gives shared memory the
    smallest part that holds them."""
    sm = gpu.sm
    if not sm.carveouts:
        return sm.l1_bytes
    allocated = round_up(shared_bytes + sm.shared_reserved, sm.shared_unit)
    return sm.l1_bytes - next((c for c in sm.carveouts if c >= blocks * allocated), sm.carveouts[-1])
