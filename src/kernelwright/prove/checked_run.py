"""Running a case with every access watched: the outputs it leaves, or why it stopped, and what undefined happened.

    device = Device()
    run = run_case(device, modules, case, "blur", Schedule.forward())
    run.output, run.rejected, run.sites

``overread`` is the byte that reads past a buffer give: an original that makes some can then be proven against, site by site,
where they would end a launch otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Protocol

import numpy as np

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.lower import HostKernel
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.fault import Fault
from kernelwright.device.guard_facts import Contents, contents_of
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import LAUNCHES, Modules, Ran, Runner, Stopped
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Output
from kernelwright.ir import Function, Module
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache
from kernelwright.prove.fences import Fences, FencesOf
from kernelwright.prove.sightings import Places, Sites, note, note_overread

KEPT = 48
"""Modules of which something is kept."""


class Runnable(Protocol):
    """A case, recorded, written or changed."""

    @property
    def name(self) -> str:
        """What the case is called in reports."""

    def run(self, runner: Runner, kernel: str, /) -> Output:
        """Makes the case's launches, of ``kernel`` where they name none. Raises ``Stopped`` when one fails."""


@dataclass(frozen=True)
class LaunchMade:
    """One launch as the device saw it."""

    launch: Launch
    regions: tuple[range, ...]
    """The addresses of all buffers there were."""
    variables: tuple[range, ...]
    """Those of the module's variables among them."""
    contents: Contents = ()
    """What the small ones held before it."""


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
    covered: set[tuple[str, int]] = field(default_factory=set)
    """By kernel, the blocks of instructions that ran."""
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

        self._keeping = 0
        self._kept: tuple[tuple[int, int] | None, Arena] | None = None
        """A memory, and where the recordings lie that it is for; None: it is for cases that are no recorded ones."""

    @contextmanager
    def memory_kept(self) -> Iterator[None]:
        """Within, runs use one memory after another's end: what it takes to make its pages is spent once."""
        self._keeping += 1
        try:
            yield
        finally:
            self._keeping -= 1
            if not self._keeping:
                self.forget_memory()

    @contextmanager
    def memory_for(self, case: Runnable) -> Iterator[Arena]:
        """The memory that a case runs in. A recorded one puts all of it back as it was, whatever ran there before; others begin with
        none, at the first addresses there are."""
        recorded = recording_of(case)
        if not self._keeping:
            with _memory(recorded) as arena:
                yield arena
            return
        place = (recorded.capture.base, recorded.capture.reserve) if recorded is not None else None
        if self._kept is None or self._kept[0] != place:
            self.forget_memory()  # also because the next one is to have its addresses
            self._kept = place, _memory(recorded)
        arena = self._kept[1]
        if recorded is None:
            arena.clear()
        yield arena

    def forget_memory(self) -> None:
        """Lets a memory go that is kept; the next run makes one anew."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def places(self, kernel: Function) -> Places:
        """The places of a kernel's instructions, kept from run to run."""
        return self._places.get_or_make(id(kernel), lambda: Places(kernel))

    def fences(self, kernel: HostKernel) -> FencesOf:
        """The fences in a kernel's compiled code, kept from run to run."""
        return self._fences.get_or_make(id(kernel), lambda: FencesOf(kernel))


@dataclass(frozen=True, eq=False)
class Guarded:
    """Other versions of some kernels, which run at the launches that their guards admit, as in a program that holds both."""

    modules: Modules
    """By kernel."""
    admits: Callable[[LaunchMade], bool]

    def version(self, made: LaunchMade) -> Module | None:
        """What runs at a launch in place of the case's own module."""
        module = self.modules.get(made.launch.kernel)
        return module if module is not None and self.admits(made) else None


class Watcher:
    """An executor for one run of one case."""

    def __init__(self, device: Device, run: CaseRun, *, watch: bool, guarded: Guarded | None = None) -> None:
        self._device = device
        self._run = run
        self._guarded = guarded
        self._watch = Watch(races=True, unwritten=True) if watch else None

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        run, loaded, launch = self._run, execution.loaded, execution.launch
        regions = tuple(range(b.address, b.end) for b in arena.buffers)
        own = tuple(range(b.address, b.end) for b in loaded.variables.buffers.values())
        # A launch that cannot begin was not made.
        split = execution.schedule.kind == "subwarp"
        made = LaunchMade(launch, regions, own, contents_of(loaded, arena))
        if self._guarded is not None and (module := self._guarded.version(made)) is not None:
            loaded = Loaded(module, loaded.variables)
            execution = replace(execution, loaded=loaded)
        compiled = self._device.gpu.compile(loaded, launch.kernel, launch.block, split=split)
        run.launches.append(made)
        launched = self._device.gpu.run(execution, arena, compiled=compiled, watch=self._watch)
        executions = launched.result.executions
        run.work += int(executions.sum())
        run.covered.update((launch.kernel, block) for block in np.flatnonzero(executions).tolist())
        run.turns = max(run.turns, execution.budget - launched.result.budget_left)
        run.fault = launched.fault
        run.fences += self._device.fences(launched.compiled.kernel).executed(launch.kernel, launched.result)
        self._collect(launched, loaded.module, arena)
        return launched

    def _collect(self, launched: Launched, module: Module, arena: Arena) -> None:
        run = self._run
        run.incomplete |= launched.result.incomplete
        kernel = module.functions[launched.kernel]
        if not launched.result.found and not launched.overreads:
            return
        places = self._device.places(kernel)
        for found in filter(lambda one: one.is_of_memory, launched.result.found):
            note(run.sites, found, places, launched.launch.grid, launched.launch.block, arena)
        for one in launched.overreads:
            note_overread(run.sites, one, places)


def run_case(
    device: Device,
    modules: Modules,
    case: Runnable,
    kernel: str,
    schedule: Schedule,
    *,
    watch: bool = True,
    overread: int | None = None,
    budget: int = BUDGET,
    launches: int = LAUNCHES,
    guarded: Guarded | None = None,
) -> CaseRun:
    """Runs ``case`` once. What goes wrong in a kernel or its host program is part of the result. ``guarded``: other versions, for
    the launches that they are meant for.

    Raises ``Misuse`` for a case that does not fit the kernels, ``DeviceError`` for a recording whose addresses are taken.
    """
    run = CaseRun(case.name, schedule)
    with device.memory_for(case) as arena:
        watcher = Watcher(device, run, watch=watch, guarded=guarded)
        runner = Runner(modules, watcher, arena, schedule=schedule, budget=budget, launches=launches, overread=overread)
        try:
            run.output = case.run(runner, kernel)
        except Stopped as stopped:
            run.rejected = stopped.rejected
    return run


def _memory(recorded: RecordedCase | None) -> Arena:
    return Arena() if recorded is None else recorded.arena()


def recording_of(case: Runnable) -> RecordedCase | None:
    """The recorded launch that a case is, or is made from; None where it is no recorded one."""
    inner: object = case
    while inner is not None and not isinstance(inner, RecordedCase):
        inner = getattr(inner, "case", None)
    return inner


def is_past_a_buffer(fault: Fault | None) -> bool:
    """Whether a launch ended at a read past a buffer."""
    return fault is not None and fault.kind == "out-of-bounds" and not fault.write and bool(fault.buffer)
