"""Running a case with every access watched: the outputs it leaves, or why it stopped, and what undefined happened.

    device = Device()
    run = run_case(device, modules, case, "blur", Schedule.forward())
    run.output, run.rejected, run.sites

With ``slack`` the bytes behind each buffer may be touched: an original that reads past its buffers can then be proven
against, site by site, where the virtual GPU would otherwise end its launch.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.device.arena import BOUNDS, GAP, Arena
from kernelwright.device.checking.touched_bytes import STORED
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.evaluate.judging.case_runner import LAUNCHES, Modules, Ran, Runner, Stopped
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Output
from kernelwright.ir import Function, Module
from kernelwright.launch import Launch
from kernelwright.lru import LruCache
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences, FencesOf
from kernelwright.prove.sightings import End, Places, Site, Sites, add, note

SLACK = 4096
"""Bytes behind a buffer that may be touched when slack is given."""
KEPT = 48
"""Modules of which something is kept."""
assert SLACK < GAP


class Runnable(Protocol):
    """A case, recorded, written or changed."""

    @property
    def name(self) -> str: ...

    def run(self, runner: Runner, kernel: str, /) -> Output: ...


@dataclass(frozen=True)
class LaunchMade:
    """One launch as the device saw it."""

    launch: Launch
    regions: tuple[range, ...]
    """The addresses of all buffers there were."""
    variables: tuple[range, ...]
    """Those of the module's variables among them."""


@dataclass
class CaseRun:
    """What one run of a case left behind."""

    case: str
    schedule: Schedule
    output: Output | None = None
    rejected: Rejected | None = None
    fault: Fault | None = None
    sites: Sites = field(default_factory=dict)
    launches: list[LaunchMade] = field(default_factory=list)
    work: int = 0
    """How often a warp ran a block of instructions, all launches together."""
    turns: int = 0
    """How often the warps of the dearest launch went back in loops."""
    incomplete: bool = False
    """Whether the checker ran out of memory."""
    fences: Fences = field(default_factory=Counter)
    """The memory fences that were executed."""


class Device:
    """The virtual GPU with what is known of the kernels that ran on it last. Not for several threads at once."""

    def __init__(self) -> None:
        self.gpu = VirtualGpu(kept=2 * KEPT)
        self._places: LruCache[int, Places] = LruCache(KEPT)
        self._fences: LruCache[int, FencesOf] = LruCache(KEPT)

    def places(self, kernel: Function) -> Places:
        return self._places.get_or_make(id(kernel), lambda: Places(kernel))

    def fences(self, kernel: HostKernel) -> FencesOf:
        return self._fences.get_or_make(id(kernel), lambda: FencesOf(kernel))


class Watcher:
    """An executor for one run of one case."""

    def __init__(self, device: Device, run: CaseRun, *, watch: bool, slack: int) -> None:
        self._device = device
        self._run = run
        self._watch = watch
        self._slack = slack
        self._flags: dict[int, NDArray[np.uint8]] = {}

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        run, loaded, launch = self._run, execution.loaded, execution.launch
        regions = tuple(range(b.address, b.end) for b in arena.buffers)
        own = tuple(range(b.address, b.end) for b in loaded.variables.buffers.values())
        # A launch that cannot begin was not made.
        split = execution.schedule.kind == "subwarp"
        compiled = self._device.gpu.compile(loaded, launch.kernel, launch.block, split=split)
        run.launches.append(LaunchMade(launch, regions, own))
        watch = self._watching(arena) if self._watch or self._slack else None
        memory = _Wider(arena, self._slack) if self._slack else arena
        launched = self._device.gpu.run(execution, arena, compiled=compiled, watch=watch, memory=memory)
        run.work += int(launched.result.executions.sum())
        run.turns = max(run.turns, execution.budget - launched.result.budget_left)
        run.fault = launched.fault
        run.fences += self._device.fences(launched.compiled.kernel).executed(launch.kernel, launched.result)
        if watch is not None:
            self._collect(launched, loaded.module, arena)
        return launched

    def _watching(self, arena: Arena) -> Watch:
        if not self._slack:
            return Watch(races=True, unwritten=True)
        for buffer in arena.buffers:
            if buffer.address not in self._flags:
                flags = np.zeros(buffer.size + self._slack, np.uint8)
                flags[: buffer.size] = 1
                self._flags[buffer.address] = flags
        return Watch(races=self._watch, unwritten=True, touched=True, written=self._flags)

    def _collect(self, launched: Launched, module: Module, arena: Arena) -> None:
        run = self._run
        run.incomplete |= launched.result.incomplete
        kernel = module.functions[launched.kernel]
        places = self._device.places(kernel) if launched.result.found else None
        for found in launched.result.found:
            assert places is not None
            note(run.sites, found, places, launched.launch.grid, launched.launch.block, arena)
        for buffer in arena.buffers if self._slack else ():
            behind = self._flags[buffer.address][buffer.size :]
            written = int(np.count_nonzero(behind & STORED))
            if written:
                site = Site("out-of-bounds", kernel.name, f"'{buffer.name}'", (End("write", "", 0, 0, "store"),))
                sentence = f"{written} bytes past the end of '{buffer.name}' are written"
                add(run.sites, site, Evidence(sentence, "out-of-bounds", kernel=kernel.name, count=written), written)
            # What was written there is nobody's: whoever reads it reads past the end all the same.
            behind[:] = 0


class _Wider:
    """The bounds of an arena whose buffers end ``slack`` bytes later."""

    def __init__(self, arena: Arena, slack: int) -> None:
        rows = [(b.address, b.end + slack, i, b.writable) for i, b in enumerate(arena.buffers)]
        self._bounds = np.array(rows, dtype=BOUNDS)

    def bounds(self) -> NDArray[Any]:
        return self._bounds


def run_case(
    device: Device,
    modules: Modules,
    case: Runnable,
    kernel: str,
    schedule: Schedule,
    *,
    watch: bool = True,
    slack: int = 0,
    budget: int = BUDGET,
    launches: int = LAUNCHES,
) -> CaseRun:
    """Runs ``case`` once. What goes wrong in a kernel or its host program is part of the result.

    Raises ``Misuse`` for a case that does not fit the kernels, ``DeviceError`` for a recording whose addresses are taken.
    """
    run = CaseRun(case.name, schedule)
    own = getattr(case, "arena", None)
    with own() if own is not None else Arena() as arena:
        watcher = Watcher(device, run, watch=watch, slack=slack)
        runner = Runner(modules, watcher, arena, schedule=schedule, budget=budget, launches=launches)
        try:
            run.output = case.run(runner, kernel)
        except Stopped as stopped:
            run.rejected = stopped.rejected
    return run
