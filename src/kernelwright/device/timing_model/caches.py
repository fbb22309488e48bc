"""Where the bytes come from: the logged requests replayed through an L1 and an L2 cache, and what that says of the launch.

The L1 cache of a watched thread block is the share of its multiprocessor's that it has while others are resident. The L2
cache is replayed with as many of its sets as the watched neighbours are of all blocks that run at once: what they do to
their part, the others do to theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelwright.device.timing_model import native_loops
from kernelwright.device.timing_model.atomics import atomic_cycles
from kernelwright.device.timing_model.counters import LINE, SECTOR, AccessCount, BlockTrace, Observed
from kernelwright.device.timing_model.neighbours import Floats, Patch, over_grid, patch_of
from kernelwright.device.timing_model.occupancy import Occupancy, l1_bytes
from kernelwright.device.timing_model.spilled_registers import spilled_registers
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.target import Gpu

L1_WAYS = 16
"""The real one is nearly fully associative; 16 ways with mixed set numbers come close to that."""
L2_ASSUMED = 0.5
"""Of a launch that was not logged: the share of what reaches L2 that is found there."""


@dataclass(frozen=True)
class Traffic:
    """Sectors of 32 bytes over the whole launch. Loads that hit in L1 go no further; stores and atomics all reach L2.

    ``latency``: per access, the cycles a request waits on average; None for accesses that were never logged.
    ``atomic_cycles``: that L2 is busy with atomics. ``logged`` says whether any of it was replayed.
    """

    requested: float
    at_l1: float
    at_l2: float
    dram_read: float
    dram_written: float
    latency: tuple[float | None, ...]
    to_l2: tuple[float, ...]
    """Per access: sectors that reach L2."""
    waits: tuple[npt.NDArray[np.float64], ...]
    """Per logged thread block, of each of its requests: the cycles it waits; none where nothing was replayed."""
    atomic_cycles: float
    logged: bool

    @property
    def l1_hit_rate(self) -> float:
        """Share 0..1 of the requested sectors that L1 answers; 0 when none was requested."""
        return self.at_l1 / self.requested if self.requested else 0.0

    @property
    def l2_hit_rate(self) -> float:
        """Share 0..1 of the sectors at L2 that need not be read from memory; 0 when none comes there."""
        return max(0.0, 1 - self.dram_read / self.at_l2) if self.at_l2 else 0.0

    @property
    def dram_bytes(self) -> float:
        """Bytes that memory reads and writes over the launch."""
        return SECTOR * (self.dram_read + self.dram_written)


_Replayed: TypeAlias = tuple[native_loops.Integers, native_loops.Integers, npt.NDArray[np.uint8]]
"""By access, by block, by line asked for: what ``native_loops.replay`` returns."""


def traffic(observed: Observed, gpu: Gpu, resident: Occupancy) -> Traffic:
    """What a launch moves on ``gpu`` with so many blocks resident. Deterministic."""
    if any(len(t.requests) for t in observed.trace):
        return _replayed(observed, gpu, resident)
    sectors = [float(a.sectors) for a in observed.accesses]
    total = sum(sectors)
    footprint = observed.touched_bytes / SECTOR
    read = sum(s for s, a in zip(sectors, observed.accesses, strict=True) if a.kind != "store")
    missing = min(read * (1 - L2_ASSUMED), footprint) * (1 - observed.warm)
    written = min(total - read, footprint) * (1 - observed.warm)
    return Traffic(
        total,
        0.0,
        total,
        missing,
        written,
        (None,) * len(sectors),
        tuple(sectors),
        (),
        atomic_cycles(observed, (), gpu.l2_bytes_per_cycle),
        False,
    )


def _replayed(observed: Observed, gpu: Gpu, resident: Occupancy) -> Traffic:
    accesses = observed.accesses
    logged = len(observed.executed or accesses)
    grid = observed.geometry.grid
    patch = patch_of(observed.trace, grid)
    # The driver divides the store before it knows the grid; the cache belongs to the blocks that come.
    there = min(resident.blocks, -(-observed.geometry.blocks // gpu.multiprocessors))
    l1_part = l1_bytes(gpu, resident.blocks, observed.geometry.shared_bytes) // there
    l1 = _sets(l1_part, L1_WAYS)
    at_once = min(observed.geometry.blocks, resident.blocks * gpu.multiprocessors)

    def replay(blocks: Sequence[BlockTrace]) -> _Replayed:
        # What blocks do to their part of L2, all others that run at once do to theirs.
        return _replay(blocks, accesses, l1, _sets(gpu.l2_bytes * len(blocks) // at_once, gpu.l2_ways))

    def missed(blocks: Sequence[BlockTrace]) -> Floats:
        found = by_block if len(blocks) == len(patch.blocks) else replay(blocks)[1]
        return np.asarray(found.sum(axis=0), np.float64)

    counts, by_block, come_from = replay(patch.blocks)
    apart = [t for t in observed.trace if not any(t is each for each in patch.blocks)]
    # Blocks far apart share nothing: of them only what happens in L1 counts.
    counts_apart, _, come_from_apart = replay(apart)
    everywhere = counts + counts_apart if apart else counts

    hits = everywhere[:, 1] / np.maximum(1, everywhere[:, 0])
    seen = everywhere[:, 0] > 0
    loads = np.array([a.kind == "load" for a in accesses] or [False])
    counted = everywhere[loads & seen]
    usual = _share(float(counted[:, 1].sum()), float(counted[:, 0].sum()))
    sectors = [float(a.sectors) for a in accesses]
    spills = spilled_registers(observed, accesses[logged:], gpu, l1_part, at_once)
    rates = [
        0.0 if a.kind != "load" else spills.in_l1 if i >= logged else float(hits[i]) if seen[i] else usual
        for i, a in enumerate(accesses)
    ]
    to_l2 = _beyond_l1(observed, sectors, rates)
    at_l1 = [s - missing for s, missing in zip(sectors, to_l2, strict=True)]
    footprint = observed.touched_bytes / SECTOR
    l2_sectors = gpu.l2_bytes / SECTOR
    moved = (_of_whole_blocks(observed, counts, patch) * over_grid(patch, missed, grid, at_once, l2_sectors)).tolist()
    read, written = (min(sum(to_l2), _kept_within(x, footprint, l2_sectors)) * (1 - observed.warm) for x in moved)
    sampled_reads = _share(float(by_block[:, 0].sum()) * observed.geometry.blocks, len(patch.blocks))
    sampled_reads *= _of_whole_blocks(observed, counts, patch)
    # The replay starts with a cold L2 cache; over the whole launch misses may be rarer, and waits shorter.
    rarer = min(1.0, _share(read, sampled_reads)) if sampled_reads else 1.0
    known = _latencies(everywhere, gpu, rarer)[:logged] + (spills.latency(gpu),) * len(accesses[logged:])
    return Traffic(
        sum(sectors), sum(at_l1), sum(to_l2), read + spills.from_memory, written + spills.to_memory,
        _without_joined(observed, known, gpu.sm.l1_latency), tuple(to_l2),
        _request_waits(observed, ((patch.blocks, come_from), (apart, come_from_apart)), _waits(gpu, rarer)),
        atomic_cycles(observed, patch.blocks, gpu.l2_bytes_per_cycle), True,
    )  # fmt: skip


def _replay(
    blocks: Sequence[BlockTrace], accesses: Sequence[AccessCount], l1: tuple[int, int], l2: tuple[int, int]
) -> _Replayed:
    kinds = np.array([_kind(a) for a in accesses] or [0], np.int32)
    rows: list[npt.NDArray[Any]] = []
    turns: list[npt.NDArray[np.int64]] = []
    longest = max((len(block.requests) for block in blocks), default=0)
    lines: list[npt.NDArray[np.uint64]] = []
    offset = 0
    for index, block in enumerate(blocks):
        row = np.zeros(len(block.requests), native_loops.REQUEST)
        row["access"], row["kind"] = block.requests["access"], kinds[block.requests["access"]]
        row["block"] = index
        row["first_line"] = block.requests["first_line"] + offset
        row["last_line"] = block.requests["last_line"] + offset
        rows.append(row)
        turns.append(np.arange(len(row), dtype=np.int64) * longest // max(1, len(row)))
        lines.append(block.lines)
        offset += len(block.lines)
    # Blocks that run at once come to the same place at about the same time.
    requests = (
        np.concatenate(rows)[np.argsort(np.concatenate(turns), kind="stable")]
        if rows
        else np.zeros(0, native_loops.REQUEST)
    )
    every = np.ascontiguousarray(np.concatenate(lines) if lines else np.zeros(0, np.uint64))
    return native_loops.replay(requests, every, l1, l2, len(accesses), len(blocks))


def _kind(access: AccessCount) -> int:
    return native_loops.KINDS[f"local {access.kind}" if access.space == "local" else access.kind]


def _sets(size: int, ways: int) -> tuple[int, int]:
    """Sets and ways of a cache of ``size`` bytes, at least one set."""
    return max(1, size // (ways * LINE)), ways


def _of_whole_blocks(observed: Observed, counts: native_loops.Integers, patch: Patch) -> float:
    """How much more a block asks for than was logged of it; 1 where all of it was."""
    if not observed.ends_early:
        return 1.0
    asked = sum(a.sectors for a in observed.executed or observed.accesses) / observed.geometry.blocks
    return max(1.0, _share(asked, float(counts[:, 0].sum()) / len(patch.blocks)))


def _kept_within(missed: float, footprint: float, l2_sectors: float) -> float:
    """What fits into the cache is missed once: then no more than the buffers hold, else the part of it that cannot stay."""
    if not footprint or missed <= footprint:
        return missed
    stays = min(1.0, l2_sectors / footprint)
    return footprint + (missed - footprint) * (1 - stays)


def _waits(gpu: Gpu, rarer: float) -> tuple[float, float, float]:
    """The cycles that a request waits whose slowest sector comes from L1, from L2, from memory: of the last only a part really does."""
    near, middle, far = (float(x) for x in (gpu.sm.l1_latency, gpu.l2_latency, gpu.dram_latency))
    return near, middle, far * rarer + middle * (1 - rarer)


def _request_waits(
    observed: Observed,
    replayed: Sequence[tuple[Sequence[BlockTrace], npt.NDArray[np.uint8]]],
    cycles: tuple[float, float, float],
) -> tuple[npt.NDArray[np.float64], ...]:
    """Per logged block, what its requests wait; ``replayed``: runs of these blocks, and where their lines came from.

    Which of several warps asks for a line first is chance: the others come while it is on its way, or go first the next time. So
    all loads of a line by one block share what was waited for it, and a request waits for the slowest of its lines.
    """
    executed = observed.executed or observed.accesses
    loads = np.array([a.kind == "load" and a.space != "local" for a in executed] or [False])
    found: dict[int, npt.NDArray[np.float64]] = {}
    for blocks, come_from in replayed:
        cuts = np.cumsum([len(block.lines) for block in blocks])[:-1]
        for block, depth in zip(blocks, np.split(come_from, cuts), strict=False):
            found[id(block)] = _shared_waits(block, np.array(cycles)[depth], loads, cycles[0])
    return tuple(found[id(block)] for block in observed.trace)


def _shared_waits(
    block: BlockTrace, by_line: npt.NDArray[np.float64], loads: npt.NDArray[np.bool_], near: float
) -> npt.NDArray[np.float64]:
    """Per request of a block: the longest of its lines' waits, each the mean over the loads of that line; ``near`` for no line."""
    waits = np.full(len(block.requests), near)
    some = np.flatnonzero(
        loads[block.requests["access"]] & (block.requests["first_line"] < block.requests["last_line"])
    )
    if not len(some):
        return waits
    some = some[np.argsort(block.requests["first_line"][some], kind="stable")]
    first = block.requests["first_line"][some].astype(np.int64)
    sizes = block.requests["last_line"][some] - first
    starts = np.cumsum(sizes) - sizes
    entries = np.repeat(first - starts, sizes) + np.arange(int(sizes.sum()))
    _, which = np.unique(block.lines[entries] >> np.uint64(4), return_inverse=True)
    means = np.bincount(which, by_line[entries]) / np.bincount(which)
    waits[some] = np.maximum.reduceat(means[which], starts)
    return waits


def _latencies(counts: native_loops.Integers, gpu: Gpu, rarer: float) -> tuple[float | None, ...]:
    near, middle, far = (float(x) for x in (gpu.sm.l1_latency, gpu.l2_latency, gpu.dram_latency))
    found: list[float | None] = []
    for at_l1, at_l2, at_dram in counts[:, 5:8].tolist():
        total = at_l1 + at_l2 + at_dram
        slow = at_dram * rarer
        found.append((at_l1 * near + (at_l2 + at_dram - slow) * middle + slow * far) / total if total else None)
    return tuple(found)


def _without_joined(observed: Observed, latencies: tuple[float | None, ...], near: float) -> tuple[float | None, ...]:
    """The waits of accesses of which only some are requests of the code: those left out found their data in L1."""
    if not observed.executed:
        return latencies
    found = list(latencies)
    groups: dict[int, list[int]] = {}
    for i, access in enumerate(observed.accesses):
        if access.group >= 0 and latencies[i] is not None and access.requests:
            groups.setdefault(access.group, []).append(i)
    for members in groups.values():
        waits = [(found[i] or 0.0) * observed.executed[i].requests for i in members]
        made = sum(observed.accesses[i].requests for i in members)
        fewer = sum(observed.executed[i].requests for i in members) - made
        if fewer:
            slowest = max(found[i] or 0.0 for i in members)
            mean = min(slowest, max(near, (sum(waits) - fewer * near) / made))
            for i in members:
                found[i] = mean
    return tuple(found)


def _beyond_l1(observed: Observed, sectors: Sequence[float], hit_rates: Sequence[float]) -> list[float]:
    """Per access: the sectors that L1 does not have. Where accesses were joined, what is left out is what hit in L1.

    Of loads that no instruction of their block makes, another block's have the same data, and in the code these are the ones that miss.
    """
    executed = [float(a.sectors) for a in observed.executed] or list(sectors)
    executed += sectors[len(executed) :]
    missing = [s * (1 - rate) for s, rate in zip(executed, hit_rates, strict=True)]
    groups: dict[int, list[int]] = {}
    for i, access in enumerate(observed.accesses):
        groups.setdefault(access.group if access.group >= 0 else -1 - i, []).append(i)
    moved: dict[str, float] = {}
    for members in groups.values():
        whole = sum(missing[i] for i in members)
        there = sum(sectors[i] for i in members)
        if not there and observed.accesses[members[0]].kind == "load":
            space = observed.accesses[members[0]].space
            moved[space] = moved.get(space, 0.0) + whole
        if whole > there:
            for i in members:
                missing[i] *= there / whole
    for memory, more in moved.items():
        loads = [i for i, a in enumerate(observed.accesses) if (a.kind, a.space) == ("load", memory)]
        room = sum(sectors[i] - missing[i] for i in loads)
        for i in loads:
            missing[i] += (sectors[i] - missing[i]) * min(1.0, _share(more, room))
    return missing


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
