"""What a launch did, as values: why it stopped, what it cost, what was noticed."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.launching.runtime_structs import SITE
from kernelwright.codegen.simt.lower import AccessInfo, HostKernel
from kernelwright.ir.module import Instruction
from kernelwright.lazy_dataclasses import dataclass

Counts = npt.NDArray[np.int64]
NO_EVENTS = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class HostFault:
    """Why a launch stopped. ``block`` and ``thread`` are linear numbers, ``address`` is generic.

    ``access`` is the load, store or atomic concerned. For everything else ``note`` has a message, which may be empty, and
    the instruction: the trap, the assertion, the bulk copy, or the barrier that a thread waits at.
    """

    kind: str
    access: AccessInfo | None
    note: tuple[str, Instruction | None] | None
    block: int
    thread: int
    address: int
    size: int
    write: bool
    other: Instruction | None = None
    """``barrier``: where others of the block or warp wait."""
    align: int = 1
    """``misaligned`` bulk copies: what the address is no multiple of."""


FOUND = ("race", "uninitialised", "passed", "ended", "masks", "absent", "askew")
"""What can be noticed, by number as ``runtime/check.h`` has it and explains it."""


@dataclass(frozen=True)
class Found:
    """Something a watched launch noticed without stopping, one of ``FOUND``; ``count`` times at this place.

    ``other_*`` is the earlier end of a race, or the thread that a barrier or a warp operation misses; ``scope`` how far both are
    apart: warp, block or grid.
    """

    kind: str
    scope: str
    origin: Instruction
    other: Instruction | None
    block: int
    thread: int
    other_block: int
    other_thread: int
    address: int
    size: int
    verbs: tuple[str, str]
    """``read``, ``write`` or ``atomic``: the earlier end first."""
    benign: bool
    """Whether no result can depend on it: two writes of one value, or a write that changes nothing."""
    count: int

    @property
    def is_of_memory(self) -> bool:
        """Whether it is about an access, and not about who takes part in a barrier or a warp operation."""
        return self.kind in ("race", "uninitialised")


@dataclass(frozen=True)
class HostOverread:
    """Reads of one instruction past one side of one buffer, which a GPU lets pass: ``count`` of them, and the farthest."""

    origin: Instruction
    buffer: int
    """Its address."""
    before: bool
    """Whether they lie before its start, not behind its end."""
    count: int
    farthest: int
    """Bytes from the buffer to the far end of the farthest."""
    block: int
    thread: int
    address: int
    size: int


@dataclass(frozen=True, init=False)
class LaunchResult:
    """``executions`` and ``lanes`` count per block of ``kernel.blocks``, the others per access of ``kernel.accesses``."""

    kernel: HostKernel
    fault: HostFault | None
    printed: bytes
    prints_lost: int
    """Calls of printf whose text found no room."""
    blocks_done: int
    budget_left: int
    raw_counts: bytes
    raw_sites: bytes
    accesses: npt.NDArray[Any]
    """The table of accesses as the runtime has it."""
    overreads: tuple[HostOverread, ...] = ()
    found: tuple[Found, ...] = ()
    incomplete: bool = False
    """Whether the checker ran out of memory, or of patience with atomics, and did not follow everything."""
    events: npt.NDArray[np.uint64] = field(default_factory=lambda: NO_EVENTS)
    """What watched warps did, in order: bits 56 what (0 a thread block begins, 1 a block of the kernel, 2 an access to
    global or local memory, 3 one to shared memory, 4 a barrier, 5 a line of the access before), 48 the warp, 24 which, 0
    how much (1: lanes; 2: sectors, in bit 7 whether neighbouring lanes ask for different words, and from bits 8, 13 and 18
    the turns, less 1, in which banks serve 32, 16 and 8 lanes at a time; 3: wavefronts, and in bit 16 as in bit 7). Of a
    line, bits 4 to 47 are its number (address / 128) and bits 0 to 3 the sectors of it that were asked for."""
    events_lost: int = 0
    events_beyond: int = 0
    """Of warps that did more than their share of the log: what they did from there on, which is not in it."""
    met: tuple[Instruction | None, ...] = ()
    """Two barriers at which warps of a block were there for each other, as GPUs count them; the first time, in the order of blocks."""

    def __init__(
        self,
        kernel: HostKernel,
        fault: HostFault | None,
        printed: bytes,
        prints_lost: int,
        blocks_done: int,
        budget_left: int,
        raw_counts: bytes,
        raw_sites: bytes,
        accesses: npt.NDArray[Any],
        overreads: tuple[HostOverread, ...] = (),
        found: tuple[Found, ...] = (),
        incomplete: bool = False,
        events: npt.NDArray[np.uint64] = NO_EVENTS,
        events_lost: int = 0,
        events_beyond: int = 0,
        met: tuple[Instruction | None, ...] = (),
    ) -> None:
        # As in ``Launch``.
        fields = self.__dict__
        fields["kernel"], fields["fault"], fields["printed"], fields["prints_lost"] = (
            kernel,
            fault,
            printed,
            prints_lost,
        )
        fields["blocks_done"], fields["budget_left"] = blocks_done, budget_left
        fields["raw_counts"], fields["raw_sites"], fields["accesses"] = raw_counts, raw_sites, accesses
        fields["overreads"], fields["found"], fields["incomplete"] = overreads, found, incomplete
        fields["events"], fields["events_lost"], fields["events_beyond"] = events, events_lost, events_beyond
        fields["met"] = met

    @cached_property
    def counts(self) -> Counts:
        """Per block: executions, and lanes where they are counted."""
        return np.frombuffer(self.raw_counts, np.int64).reshape(-1, 2)

    @cached_property
    def sites(self) -> npt.NDArray[Any]:
        """Per access what the runtime noted."""
        return np.frombuffer(self.raw_sites, SITE)[: len(self.kernel.accesses)]

    @cached_property
    def executions(self) -> Counts:
        """How often a warp ran each block."""
        return self.counts[:, 0]

    @cached_property
    def lanes(self) -> Counts:
        """How many lanes ran each block, all executions together."""
        lanes = self.counts[:, 1].copy()
        whole = np.array([b.whole for b in self.kernel.blocks], bool)
        lanes[whole] = self.executions[whole] * self.kernel.options.geometry.lanes
        return lanes

    @cached_property
    def _runs(self) -> Counts:
        """How often each access was made."""
        at = np.array([a.block for a in self.kernel.accesses], np.int64)
        return self.executions[at] if len(at) else np.zeros(0, np.int64)

    @cached_property
    def _in_shared(self) -> Counts:
        return np.where(self.accesses["space"] == 1, self._runs, self.sites["in_shared"].astype(np.int64))

    @cached_property
    def sectors(self) -> Counts:
        """32-byte sectors of global and local memory; none of constants, which do not go there."""
        constant = np.array([a.constant for a in self.kernel.accesses], bool)
        return np.where(constant, 0, self.sites["sectors"] + self._runs - self._in_shared)

    @cached_property
    def wavefronts(self) -> Counts:
        """Turns of shared memory: as many as requests where no banks conflict."""
        return self.sites["waves"] + self._in_shared

    @cached_property
    def serial(self) -> Counts:
        """Further turns: of atomics for lanes on one address, of constants for lanes on different ones."""
        return self.sites["serial"].copy()
