"""Races and reads of unwritten memory, found by watching every access of a launch byte by byte.

Two accesses to the same byte race when they come from different threads, at least one writes, not both are atomic, and
nothing orders them. What orders: barriers of the block, ``__syncwarp``, and atomics on the same address (a thread that reads an
atomic has seen what its writer did before). Shuffles and votes order nothing, as CUDA says. Volatile accesses to global
memory count as atomic, because programs signal through them; in shared memory they do not, because there they hide
missing ``__syncwarp``s.

This is the definition that faster detectors are compared with: happens-before with a clock per thread. See Flanagan and
Freund, "FastTrack", 2009, for the idea of keeping one write and the reads since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW, Buffer
from kernelwright.device.fault import Kind
from kernelwright.device.reference.thread_state import Block, Clock, Thread
from kernelwright.lazy_dataclasses import dataclass

Key = tuple[int, int]
"""A byte that threads share: (block, offset) in shared memory, (-1, address) in global memory."""


class Access(NamedTuple):
    """An access as later ones see it."""

    thread: Thread
    epoch: int
    """How many barriers of the whole block its thread had passed."""
    time: int
    """How often its thread had synchronised in any way."""
    site: int
    atomic: bool
    write: bool = False
    value: int = -1
    """The byte written; -1 for an atomic."""
    silent: bool = False
    """Whether the write left the byte as it was."""


@dataclass
class Cell:
    """The last write and the last read of a byte by each thread, as long as a later access may still race with them."""

    writes: dict[Thread, Access] = field(default_factory=dict)
    reads: dict[Thread, Access] = field(default_factory=dict)


class Finding(NamedTuple):
    """Something that is wrong, before it gets names: see ``ReferenceRun.fault_of_finding``."""

    kind: Kind
    message: str
    thread: Thread
    site: int
    address: int
    size: int
    write: bool
    benign: bool
    """Whether a race cannot change any result: two writes of one value, or a write that changes nothing."""
    other: Access | None


class Watch:
    """Watches one launch. ``written`` remembers across launches which bytes of a buffer hold something.

    A buffer's address without an entry in ``written`` stands for a buffer that the host has filled.
    """

    def __init__(self, written: dict[int, npt.NDArray[np.uint8]] | None = None) -> None:
        self.written = {} if written is None else written
        self.findings: list[Finding] = []
        self._reported: set[tuple[str, int, int, bool]] = set()
        self._cells: dict[Key, Cell] = {}
        self._signals: dict[Key, tuple[dict[Thread, int], dict[int, int]]] = {}

    # -- accesses --------------------------------------------------------------------------------------------------

    def read(
        self, t: Thread, address: int, size: int, site: int, volatile: bool = False, check_written: bool = True
    ) -> None:
        if check_written:
            self._check_written(t, address, size, site)
        base = _key(t, address)
        if base is None:
            return
        signal = volatile and base[0] < 0
        if signal:
            self._signal(t, base)
        record = Access(t, t.clock.epoch, t.clock.time, site, signal)
        for n in range(size):
            cell = self._cell(base, n)
            for earlier in cell.writes.values():
                self._compare(t, earlier, record, address + n, size)
            cell.reads[t] = record

    def before(self, t: Thread, address: int, size: int) -> bytes:
        """The bytes that a store is about to change; nothing when it is going to fault."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            return bytes(t.block.shared.raw[_in_shared(address) : _in_shared(address) + size])
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            return b""
        arena = t.block.launch.memory.arena
        buffer = arena.find(address)
        return bytes(arena.bytes(address, size)) if buffer and address + size <= buffer.end else b""

    def write(self, t: Thread, address: int, size: int, site: int, old: bytes, volatile: bool = False) -> None:
        """After a store: ``old`` is what was there."""
        self.mark_written(t, address, size)
        base = _key(t, address)
        if base is None:
            return
        new = self.before(t, address, size)
        atomic = volatile and base[0] < 0
        for n in range(size):
            silent = old[n] == new[n]
            record = Access(t, t.clock.epoch, t.clock.time, site, atomic, True, new[n], silent)
            self._replace(t, self._cell(base, n), record, address + n, size)
        if atomic:
            self._signal(t, base)

    def atomic(self, t: Thread, address: int, size: int, site: int) -> None:
        """A read-modify-write."""
        self._check_written(t, address, size, site)
        self.mark_written(t, address, size)
        base = _key(t, address)
        if base is None:
            return
        for n in range(size):
            record = Access(t, t.clock.epoch, t.clock.time, site, True, True)
            self._replace(t, self._cell(base, n), record, address + n, size)
        self._signal(t, base)

    def copied(self, t: Thread, to: int, source: int, size: int, site: int, old: bytes) -> None:
        """After a copy: padding may be copied unwritten, so unwritten bytes stay unwritten."""
        flags = self._flags(t, source, size)
        kept = None if flags is None else bytes(flags)
        self.read(t, source, size, site, check_written=False)
        self.write(t, to, size, site, old)
        target = self._flags(t, to, size)
        if kept is not None and target is not None:
            target[:] = kept

    # -- synchronisation -------------------------------------------------------------------------------------------

    def meet(self, threads: Iterable[Thread]) -> None:
        """These threads have waited for each other: each knows what all did."""
        threads = list(threads)
        known: dict[Thread, int] = {}
        blocks: dict[int, int] = {}
        merged = Clock()
        for thread in threads:
            merged.learn(thread.clock.known, thread.clock.blocks)
            known[thread] = thread.clock.time
        merged.learn(known, blocks)
        for thread in threads:
            thread.clock.known = dict(merged.known)
            thread.clock.blocks = dict(merged.blocks)
            thread.clock.time += 1

    def open_barrier(self, block: Block, threads: list[Thread]) -> None:
        """A barrier of the whole block has opened: all that its threads did before is known to all that live."""
        merged = Clock()
        for thread in threads:
            merged.learn(thread.clock.known, thread.clock.blocks)
        epoch = threads[0].clock.epoch + 1
        merged.blocks[block.number] = epoch
        others = {t: time for t, time in merged.known.items() if t.block is not block}
        for thread in threads:
            clock = thread.clock
            clock.epoch = epoch
            clock.time += 1
            clock.known, clock.blocks = dict(others), dict(merged.blocks)

    def open_grid(self) -> None:
        """All threads of the grid have waited for each other: what was done is ordered before all that will be."""
        self._cells.clear()

    def _signal(self, t: Thread, key: Key) -> None:
        """An atomic passes knowledge on: what earlier ones on this address knew, and what this thread knows."""
        clock = t.clock
        known, blocks = self._signals.get(key, ({}, {}))
        clock.learn(known, blocks)
        self._signals[key] = (
            {**clock.known, t: clock.time},
            {**clock.blocks, t.block.number: max(clock.epoch, clock.blocks.get(t.block.number, 0))},
        )
        clock.time += 1

    # -- races -----------------------------------------------------------------------------------------------------

    def _cell(self, base: Key, n: int) -> Cell:
        key = (base[0], base[1] + n)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = Cell()
        return cell

    def _replace(self, t: Thread, cell: Cell, record: Access, address: int, size: int) -> None:
        for earlier in (*cell.writes.values(), *cell.reads.values()):
            self._compare(t, earlier, record, address, size)
        # What is ordered before this write is ordered before everything that is ordered after it.
        cell.writes = {u: a for u, a in cell.writes.items() if not _is_ordered(a, t.clock)}
        cell.reads = {u: a for u, a in cell.reads.items() if u is not t and not _is_ordered(a, t.clock)}
        cell.writes[t] = record

    def _compare(self, t: Thread, earlier: Access, now: Access, address: int, size: int) -> None:
        """Reports a race when nothing orders the earlier access before this one."""
        if earlier.thread is t or (earlier.atomic and now.atomic) or _is_ordered(earlier, t.clock):
            return
        scope = _scope(earlier.thread, t)
        benign = _is_benign(earlier, now)
        first, second = sorted((earlier.site, now.site))
        if not self._reported.isdisjoint({(scope, first, second, b) for b in {benign, False}}):
            return
        self._reported.add((scope, first, second, benign))
        verbs = [("atomic" if a.atomic else "write" if a.write else "read") for a in (earlier, now)]
        message = f"{verbs[0]} and {verbs[1]} of the same byte by {scope}, and nothing orders them"
        if benign:
            message += "; the value does not depend on the order"
        self.findings.append(Finding("race", message, t, now.site, address, size, now.write, benign, earlier))

    # -- unwritten memory ------------------------------------------------------------------------------------------

    def _flags(self, t: Thread, address: int, size: int) -> memoryview | None:
        """One byte per byte of memory, not zero when it was written; None for memory that is not followed."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            region, start = t.block.shared.written, _in_shared(address)
        elif LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            region, start = t.local.written, address - LOCAL_BASE
        else:
            buffer: Buffer | None = t.block.launch.memory.arena.find(address)
            if buffer is None or buffer.address not in self.written:
                return None
            return self.written[buffer.address][address - buffer.address :][:size].data
        return None if region is None else memoryview(region)[start : start + size]

    def mark_written(self, t: Thread, address: int, size: int) -> None:
        """Bytes that count as written from now on, without an access that could race."""
        flags = self._flags(t, address, size)
        if flags is not None:
            flags[:] = b"\1" * len(flags)

    def _check_written(self, t: Thread, address: int, size: int, site: int) -> None:
        flags = self._flags(t, address, size)
        if flags is None or all(flags) or ("uninitialised", site, -1, False) in self._reported:
            return
        self._reported.add(("uninitialised", site, -1, False))
        message = f"reads {size} byte{'s' if size != 1 else ''} that were never written"
        self.findings.append(Finding("uninitialised", message, t, site, address, size, False, False, None))


def _key(t: Thread, address: int) -> Key | None:
    """The byte among those that threads share; None for local memory."""
    if SHARED_BASE <= address < SHARED_BASE + WINDOW:
        return t.block.number, _in_shared(address)
    if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
        return None
    return -1, address


def _is_ordered(earlier: Access, clock: Clock) -> bool:
    thread = earlier.thread
    return clock.blocks.get(thread.block.number, 0) > earlier.epoch or clock.known.get(thread, -1) >= earlier.time


def _is_benign(earlier: Access, now: Access) -> bool:
    """Whether the order cannot matter: two writes of one value, or a write that leaves the byte as it was."""
    if earlier.write and now.write:
        return earlier.value == now.value
    return (earlier if earlier.write else now).silent


def _scope(a: Thread, b: Thread) -> str:
    """How far apart two threads are."""
    if a.block is not b.block:
        return "threads of different blocks"
    return "lanes of one warp" if a.warp == b.warp else "different warps of a block"


def _in_shared(address: int) -> int:
    """The offset of an access that was found good: of it PTX looks at 32 bits."""
    return (address - SHARED_BASE) & 0xFFFF_FFFF
