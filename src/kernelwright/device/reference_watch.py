"""Races and reads of unwritten memory, found by watching every access of a launch byte by byte.

Two accesses to the same byte race when they come from different threads, at least one writes, not both are atomic, and
nothing orders them. What orders: barriers of the block, ``__syncwarp``, and atomics on the same address (whoever reads an
atomic has seen what its writer did before). Shuffles and votes order nothing, as CUDA says. Volatile accesses to global
memory count as atomic, because programs signal through them; in shared memory they do not, because there they hide
missing ``__syncwarp``s.

This is the definition that faster detectors are compared with: happens-before with a clock per thread. See Flanagan and
Freund, "FastTrack", 2009, for the idea of keeping one write and the reads since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelwright.device.memory import LOCAL_BASE, SHARED_BASE, WINDOW, Buffer

if TYPE_CHECKING:
    from kernelwright.device.reference_threads import Block, Thread

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
    value: int
    """The byte written."""
    silent: bool
    """Whether the write left the byte as it was."""


class Clock:
    """What a thread knows: everything its block did before a barrier, and what others did up to a time of theirs."""

    __slots__ = ("blocks", "epoch", "known", "time")

    def __init__(self) -> None:
        self.epoch = 0
        self.time = 0
        self.known: dict[Thread, int] = {}
        self.blocks: dict[int, int] = {}
        """By block: every access of an earlier epoch than this is known."""

    def learn(self, known: dict[Thread, int], blocks: dict[int, int]) -> None:
        for thread, time in known.items():
            if self.known.get(thread, -1) < time:
                self.known[thread] = time
        for block, epoch in blocks.items():
            if self.blocks.get(block, -1) < epoch:
                self.blocks[block] = epoch


@dataclass
class Cell:
    """The last write of a byte, and the reads since, one per thread."""

    write: Access | None = None
    reads: dict[Thread, Access] = field(default_factory=dict)


class Finding(NamedTuple):
    """Something that is wrong, before it gets names: see ``Launch.finding``."""

    kind: str
    message: str
    thread: Thread
    site: int
    address: int
    size: int
    write: bool
    benign: bool
    other: Access | None


class Watch:
    """Watches one launch. ``written`` remembers across launches which bytes of a buffer hold something.

    A buffer's address without an entry in ``written`` stands for a buffer that the host has filled.
    """

    def __init__(self, written: dict[int, npt.NDArray[np.uint8]] | None = None) -> None:
        self.written = {} if written is None else written
        self.findings: list[Finding] = []
        self._reported: set[tuple[str, int, int]] = set()
        self._cells: dict[Key, Cell] = {}
        self._signals: dict[Key, tuple[dict[Thread, int], dict[int, int]]] = {}

    # -- accesses --------------------------------------------------------------------------------------------------

    def read(self, t: Thread, address: int, size: int, site: int, volatile: bool = False) -> None:
        self._check_written(t, address, size, site)
        base = _key(t, address)
        if base is None:
            return
        if volatile and base[0] < 0:
            self._signal(t, base)
        record = Access(t, t.clock.epoch, t.clock.time, site, volatile and base[0] < 0, 0, False)
        for n in range(size):
            cell = self._cell(base, n)
            self._compare(t, cell.write, record, address + n, size, False)
            cell.reads[t] = record

    def before(self, t: Thread, address: int, size: int) -> bytes:
        """The bytes that a store is about to change; nothing when it is going to fault."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            return bytes(t.block.shared.raw[address - SHARED_BASE : address - SHARED_BASE + size])
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
            record = Access(t, t.clock.epoch, t.clock.time, site, atomic, new[n], silent)
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
            record = Access(t, t.clock.epoch, t.clock.time, site, True, -1, False)
            self._replace(t, self._cell(base, n), record, address + n, size)
        self._signal(t, base)

    def copied(self, t: Thread, to: int, source: int, size: int, site: int, old: bytes) -> None:
        """After a copy: padding may be copied though nobody wrote it, so unwritten bytes stay unwritten."""
        flags = self._flags(t, source, size)
        kept = None if flags is None else bytes(flags)
        self._check_race_of_read(t, source, size, site)
        self.write(t, to, size, site, old)
        target = self._flags(t, to, size)
        if kept is not None and target is not None:
            target[:] = kept

    def _check_race_of_read(self, t: Thread, address: int, size: int, site: int) -> None:
        reported, self.written = self.written, {}
        local, shared = t.local.written, t.block.shared.written
        t.local.written = t.block.shared.written = None
        self.read(t, address, size, site)
        self.written = reported
        t.local.written, t.block.shared.written = local, shared

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
        self._compare(t, cell.write, record, address, size, True)
        for earlier in cell.reads.values():
            self._compare(t, earlier, record, address, size, True)
        cell.write = record
        cell.reads = {}

    def _compare(
        self, t: Thread, earlier: Access | None, now: Access, address: int, size: int, write: bool
    ) -> None:
        """Reports a race when nothing orders the earlier access before this one."""
        if earlier is None or earlier.thread is t or (earlier.atomic and now.atomic) or _is_ordered(earlier, t.clock):
            return
        scope = _scope(earlier.thread, t)
        key = (f"race {scope}", *sorted((earlier.site, now.site)))
        benign = _is_benign(earlier, now, write)
        if (*key, benign) in self._reported or (*key, False) in self._reported:
            return
        self._reported.add((*key, benign))  # type: ignore[arg-type]
        verbs = ("read", "write") if earlier.value == 0 and not earlier.silent and not write else ("access", "access")
        del verbs
        message = f"two threads of {scope} access the same byte and nothing orders them"
        if benign:
            message += "; the write changes nothing"
        self.findings.append(Finding("race", message, t, now.site, address, size, write, benign, earlier))

    # -- unwritten memory ------------------------------------------------------------------------------------------

    def _flags(self, t: Thread, address: int, size: int) -> memoryview | None:
        """One byte per byte of memory, not zero when it was written; None for memory that is not followed."""
        if SHARED_BASE <= address < SHARED_BASE + WINDOW:
            region, start = t.block.shared.written, address - SHARED_BASE
        elif LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
            region, start = t.local.written, address - LOCAL_BASE
        else:
            buffer: Buffer | None = t.block.launch.memory.arena.find(address)
            if buffer is None or buffer.address not in self.written:
                return None
            return memoryview(self.written[buffer.address])[address - buffer.address :][:size]
        return None if region is None else memoryview(region)[start : start + size]

    def mark_written(self, t: Thread, address: int, size: int) -> None:
        flags = self._flags(t, address, size)
        if flags is not None:
            flags[:] = b"\1" * len(flags)

    def _check_written(self, t: Thread, address: int, size: int, site: int) -> None:
        flags = self._flags(t, address, size)
        if flags is None or all(flags) or ("uninitialised", site, -1) in self._reported:
            return
        self._reported.add(("uninitialised", site, -1))
        message = f"reads {size} byte{'s' if size != 1 else ''} that nobody has written"
        self.findings.append(Finding("uninitialised", message, t, site, address, size, False, False, None))


def _key(t: Thread, address: int) -> Key | None:
    """The byte among those that threads share; None for local memory."""
    if SHARED_BASE <= address < SHARED_BASE + WINDOW:
        return t.block.number, address - SHARED_BASE
    if LOCAL_BASE <= address < LOCAL_BASE + WINDOW:
        return None
    return -1, address


def _is_ordered(earlier: Access, clock: Clock) -> bool:
    thread = earlier.thread
    return clock.blocks.get(thread.block.number, 0) > earlier.epoch or clock.known.get(thread, -1) >= earlier.time


def _is_benign(earlier: Access, now: Access, write: bool) -> bool:
    """Whether the order cannot matter: two writes of one value, or a write that leaves the byte as it was."""
    earlier_writes = earlier.value >= 0 and earlier.silent is not None and _writes(earlier)
    if write and earlier_writes:
        return earlier.value == now.value
    return (now if write else earlier).silent


def _writes(access: Access) -> bool:
    return access.value != 0 or access.silent


def _scope(a: Thread, b: Thread) -> str:
    if a.block is not b.block:
        return "different blocks"
    return "the same warp" if a.warp == b.warp else "different warps"
