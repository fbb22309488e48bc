"""One launch on several cores: which launches, and how the runtime is told (``runtime/spread.c``).

A launch begins on one core. When it has run for a while it is known how long the rest takes; where that is long enough and
``block_footprints.py`` says that the blocks can run in any order, they are spread over the cores. Memory, counters and faults are those
of one core: where something comes up that depends on the order of blocks, memory becomes what it was, and they run in order.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Hashable
from time import perf_counter, thread_time
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.codegen.simt.analyses.address_spaces import infer_spaces
from kernelwright.codegen.simt.analyses.block_footprints import BlockFootprints
from kernelwright.codegen.simt.analyses.launch_forms import Numbers
from kernelwright.codegen.simt.launching.runtime_library import runtime
from kernelwright.codegen.simt.launching.runtime_structs import BUFFER, LaunchStruct, SpreadStruct
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.codegen.simt.program.control_flow import arrange, note_uses
from kernelwright.codegen.simt.program.flatten import flatten
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache

PARTS = 8
"""Runs of blocks that each worker takes, one after another: they need not take equally long."""
AT_ONCE = 1
"""As nanoseconds on one core: none."""
KEPT = 16
"""Plans of launches with different numbers."""
MOST_SKIPPED = 64


@dataclass(frozen=True)
class Worth:
    """When a launch is worth more than one core."""

    look_ns: int = 300_000
    """How long it runs on one before it is asked."""
    least_s: float = 0.0004
    """What the rest of it takes at least."""
    plans: float = 3.0
    """How often the time that planning takes."""
    copied_per_s: float = 5e9
    """Bytes that are kept, for the case that blocks must run in order after all; it may take a quarter of the rest."""
    gain: float = 0.95
    """Of the time on one core, what it takes at most. Else the next launches are not spread: other processes have the cores."""


WORTH = Worth()
ALWAYS = Worth(AT_ONCE, 0.0, 0.0, math.inf, math.inf)
"""For tests."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """Of launches with the same numbers: the arrays that the runtime is given."""

    written: npt.NDArray[np.uint8]
    homes: npt.NDArray[np.uint64]
    saved: npt.NDArray[Any]
    saved_bytes: int


class Spreading:
    """Of one kernel and block shape."""

    def __init__(self, kernel: HostKernel) -> None:
        self._kernel = kernel
        self._footprints: BlockFootprints | None = None
        self._plans: LruCache[Hashable, tuple[npt.NDArray[Any], _Plan | None]] = LruCache(KEPT)
        self._room: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._planning_s = 0.0
        self.spread = 0
        """Launches that ran on several cores."""
        self.is_off = kernel.prints or kernel.waits_for_grid
        """Whether blocks of this kernel run in order, whatever the launch."""
        self._block_s = 0.0
        """Seconds of a core that a block took lately."""
        self._losses = 0
        """Launches, one after another, that several cores did not make quicker."""
        self._skipped = 0
        """Launches that are not spread for that."""

    def pause_ns(self, blocks: int) -> int:
        """How long a launch of so many blocks is to run on one core first."""
        if self._skipped:
            self._skipped -= 1
            return 0
        return AT_ONCE if self._block_s and self._is_worth(blocks) else WORTH.look_ns

    def looked(self, blocks: int, seconds: float) -> None:
        """So many blocks took so long of a core, while nothing else had it."""
        if blocks:
            self._block_s = seconds / blocks

    def _is_worth(self, blocks: int) -> bool:
        return blocks > 1 and self._block_s * blocks >= WORTH.least_s

    def run(self, launch: LaunchStruct, blocks: int, cores: int, numbers: Numbers, bounds: npt.NDArray[Any]) -> bool:
        """Runs the rest of a launch on so many cores. False: nothing has happened, and it is to run on one."""
        rest = blocks - int(launch.blocks_done)
        expected = self._block_s * rest
        if not self._is_worth(rest):
            return False
        plan = self._plan(numbers, bounds, expected)
        if plan is None or plan.saved_bytes / WORTH.copied_per_s > expected / 4:
            return False
        if self._room.size < plan.saved_bytes:
            self._room = np.empty(plan.saved_bytes, np.uint8)
        workers = min(cores, rest)
        record = SpreadStruct(
            workers, max(1, rest // (workers * PARTS)), blocks, plan.written.ctypes.data, plan.homes.ctypes.data,
            plan.saved.ctypes.data, len(plan.saved), self._room.ctypes.data,
        )  # fmt: skip
        begin = perf_counter()
        done = bool(runtime().simt_run_spread(ctypes.byref(launch), ctypes.byref(record)))
        if not done:
            # A launch that is stopped or faults comes once; one whose blocks meet may come again.
            self.is_off = bool(record.departed)
            return False
        took = perf_counter() - begin
        self._block_s = record.busy_ns / 1e9 / rest
        self._losses = self._losses + 1 if took > WORTH.gain * self._block_s * rest else 0
        self._skipped = min(MOST_SKIPPED, (1 << self._losses) - 1)
        self.spread += 1
        return True

    def _plan(self, numbers: Numbers, bounds: npt.NDArray[Any], expected: float) -> _Plan | None:
        key = (numbers.grid, numbers.parameters, tuple(numbers.symbols.values()), numbers.budget)
        known = self._plans.get(key)
        if known is not None and known[0] is bounds:
            return known[1]
        if expected < WORTH.plans * self._planning_s:
            return None
        begin = thread_time()
        if self._footprints is None:
            self._footprints = _footprints(self._kernel)
            self.is_off = self._footprints.is_ordered
            begin = thread_time()
        plan = _planned(self._footprints, numbers, bounds)
        self._planning_s = thread_time() - begin
        self._plans.put(key, (bounds, plan))
        return plan


def _footprints(kernel: HostKernel) -> BlockFootprints:
    program = flatten(kernel.module.functions[kernel.name])
    arrange(program)
    note_uses(program)
    infer_spaces(program)
    return BlockFootprints(program)


def _planned(footprints: BlockFootprints, numbers: Numbers, bounds: npt.NDArray[Any]) -> _Plan | None:
    starts, ends = bounds["start"].tolist(), bounds["end"].tolist()
    found = footprints.of(numbers, list(zip(starts, ends, strict=True)))
    if found is None:
        return None
    touched = {start for start, _ in found.written}
    written = np.array(
        [any(start <= place < end for place in touched) for start, end in zip(starts, ends, strict=True)], np.uint8
    )
    saved = np.zeros(0 if found.is_certain else len(found.written), BUFFER)
    if len(saved):
        saved["start"], saved["end"] = np.array(found.written, np.uint64).T
    size = int((saved["end"] - saved["start"]).sum())
    return _Plan(written, np.array([*found.homes, 0], np.uint64), saved, size)
