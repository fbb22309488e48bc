"""One launch: its blocks one after another, its faults with names and places."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace

from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW, Arena
from kernelwright.device.execution import Execution
from kernelwright.device.fault import Fault
from kernelwright.device.geometry import check_geometry
from kernelwright.device.locations import location_of
from kernelwright.device.overread import Overread
from kernelwright.device.reference.block_scheduler import BlockScheduler
from kernelwright.device.reference.program import Translation
from kernelwright.device.reference.race_watch import Finding, Watch
from kernelwright.device.reference.thread_state import GlobalMemory, RunningLaunch, Stop
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import Variables, load_variables
from kernelwright.errors import Misuse
from kernelwright.ir.module import Instruction, Module
from kernelwright.launch import STACK_BYTES, Triple
from kernelwright.lazy_dataclasses import dataclass

RESIDENT = 4096
"""Blocks that may be unfinished at once, when earlier ones spin waiting for later ones; of a cooperative launch all may."""
DEEP = 20_000
"""Levels of Python calls while functions call themselves: what a thread's stack holds, and more."""
BUDGET = 50_000_000
FORWARD = Schedule()


@dataclass(frozen=True)
class ReferenceResult:
    """What a launch did. Memory holds the rest."""

    fault: Fault | None
    """Why it stopped, None when it ran to its end."""
    text: str
    """What the kernel printed."""
    block_counts: dict[str, list[int]]
    """By function: how many threads entered each of its basic blocks, in the order of the function's blocks."""
    instructions: int
    """Instructions executed, all threads together. Phis and terminators count."""
    findings: tuple[Fault, ...] = ()
    """What a watched launch noticed without stopping: races, reads of unwritten memory."""
    overreads: tuple[Overread, ...] = ()
    """Reads past a buffer that were let pass."""
    exited_early: bool = False
    """Whether threads had exited when the rest of their block met at a barrier."""
    met: tuple[Instruction, ...] = ()
    """Two barriers at which threads of a block were there for each other, as GPUs count them; the first time."""


class ReferenceRun:
    """A launch from its first block to its last, with what went wrong in the names and places of the kernel."""

    def __init__(self, translation: Translation, launch: RunningLaunch) -> None:
        self.translation = translation
        self.launch = launch

    def run(self) -> bool:
        """Runs every block. Whether threads had exited when others met at a barrier."""
        count = self.launch.grid[0] * self.launch.grid[1] * self.launch.grid[2]
        resident = count if self.launch.is_cooperative else RESIDENT
        waiting = iter(self.launch.schedule.block_order(count))
        spinning: list[BlockScheduler] = []
        exited_early = False
        more = True
        while more or spinning:
            number = next(waiting, None) if len(spinning) < resident else None
            more = number is not None or (more and len(spinning) >= resident)
            if number is not None:
                spinning.append(BlockScheduler(self.launch, number))
                turn = spinning[-1:]
            else:
                turn = list(spinning)
            for block in turn:
                if not block.at_grid and block.run():
                    exited_early |= block.exited_early
                    spinning.remove(block)
            if number is None and spinning and all(block.at_grid for block in spinning):
                self._open_grid(spinning, count)
        return exited_early

    def _open_grid(self, blocks: list[BlockScheduler], count: int) -> None:
        if len(blocks) < count:
            first = blocks[0].at_grid[0]
            raise Stop("barrier", "threads wait for the grid, and other blocks have ended", first, first.event[-1])
        if self.launch.watch:
            self.launch.watch.open_grid()
        for block in blocks:
            block.leave_grid()

    def fault_of(self, stop: Stop) -> Fault:
        """A stop with names and places."""
        sites = self.translation.program.sites
        thread, other = stop.thread, stop.other_thread
        return Fault(
            stop.kind,
            stop.message,
            self.translation.kernel.name,
            location_of(sites[stop.site]),
            thread.position if thread else None,
            thread.block.position if thread else None,
            stop.address,
            stop.size,
            stop.write,
            stop.buffer,
            location_of(sites[stop.other_site]) if stop.other_site >= 0 else None,
            other.position if other else None,
            other.block.position if other else None,
        )

    def overreads(self) -> tuple[Overread, ...]:
        """Reads past a buffer, with names and places, by place, side and buffer."""
        sites, arena = self.translation.program.sites, self.launch.memory.arena
        kernel = self.translation.kernel.name
        made = []
        for (site, before, address), seen in sorted(self.launch.overreads.items(), key=lambda item: item[0]):
            buffer, thread = arena.find(address), seen.thread
            assert buffer is not None
            who = thread.position, thread.block.position
            made.append(
                Overread(kernel, sites[site], buffer, before, seen.count, seen.farthest, *who, seen.address, seen.size)
            )
        return tuple(made)

    def fault_of_finding(self, finding: Finding) -> Fault:
        """What a watch noticed, with names and places."""
        stop = Stop(
            finding.kind, finding.message, finding.thread, finding.site, finding.address, finding.size, finding.write,
            name_of_memory(self.launch.memory.arena, finding.address),
        )  # fmt: skip
        if finding.other is not None:
            stop.other_site, stop.other_thread = finding.other.site, finding.other.thread
        return replace(self.fault_of(stop), benign=finding.benign)


def run_reference(
    module: Module | Translation,
    kernel_name: str,
    grid: Triple,
    block: Triple,
    parameters: bytes,
    arena: Arena,
    *,
    variables: Variables | None = None,
    shared_bytes: int = 0,
    schedule: Schedule = FORWARD,
    budget: int = BUDGET,
    watch: Watch | None = None,
    overread: int | None = None,
    is_cooperative: bool = False,
    stack_bytes: int = STACK_BYTES,
) -> ReferenceResult:
    """Runs one kernel on the memory of ``arena``.

    ``parameters`` is the packed parameter buffer: every parameter at its natural alignment, structs passed by value
    included. ``shared_bytes`` is the dynamic shared memory, ``budget`` the loop iterations that all threads together may
    make. ``variables`` are the module's device variables when they are in memory already (``load_variables``); otherwise
    they are loaded, with their initial values, for this launch. ``watch`` looks for races and for reads of unwritten memory
    wrote; what it sees is in the result's ``findings``. ``overread`` is the byte that a read past a buffer gives, None where that
    is a fault. ``is_cooperative``: blocks may wait for all of the grid. ``stack_bytes``: of each thread, where functions call
    themselves. A ``Translation`` in place of the module saves the work of
    translating again; it must have been made with the same choice of ``watched``.

    What the kernel does wrong is the result's ``fault``. Raises ``CompileError`` for code that the virtual GPU refuses,
    ``DeviceError`` for an impossible geometry, ``Misuse`` for an unknown kernel or too few arguments.
    """
    check_geometry(kernel_name, grid, block)
    if isinstance(module, Translation):
        translation = module
        translation.reset_counts()
    else:
        loaded = variables or load_variables(module, arena)
        translation = Translation(module, kernel_name, loaded, watched=watch is not None)
    if translation.program.watched != (watch is not None):
        raise Misuse("A launch is watched exactly when its translation was made for it.", hint="pass watched=True")
    values = translation.arguments(parameters)
    stack = stack_bytes if translation.has_stack else 0
    if stack:
        sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))
    launch = RunningLaunch(
        translation.entry, values, GlobalMemory(arena, overread), grid, block,
        shared_bytes, translation.shared.total(shared_bytes), translation.local_bytes + stack, schedule, budget, watch, is_cooperative,
        stack,
    )  # fmt: skip
    run = ReferenceRun(translation, launch)
    fault, exited_early = None, False
    collects = gc.isenabled()
    gc.disable()  # a launch makes no cycles that outlive its blocks, and looking for them takes half its time
    try:
        exited_early = run.run()
    except Stop as stop:
        fault = run.fault_of(stop)
    finally:
        if collects:
            gc.enable()
    return ReferenceResult(
        fault,
        "".join(launch.text),
        translation.block_counts(),
        translation.executed(),
        tuple(map(run.fault_of_finding, watch.findings)) if watch else (),
        run.overreads(),
        exited_early,
        tuple(translation.program.sites[site] for site in launch.met),
    )


def execute_reference(execution: Execution, arena: Arena, *, watch: Watch | None = None) -> ReferenceResult:
    """``run_reference`` as an executor; raises as that does."""
    loaded, launch = execution.loaded, execution.launch
    return run_reference(
        loaded.module, launch.kernel, launch.grid, launch.block, launch.parameters, arena,
        variables=loaded.variables, shared_bytes=launch.shared_bytes, schedule=execution.schedule,
        budget=execution.budget, watch=watch, overread=execution.overread, is_cooperative=launch.is_cooperative,
        stack_bytes=launch.stack_bytes,
    )  # fmt: skip


def name_of_memory(arena: Arena, address: int) -> str:
    """What lies at a generic address: a buffer's name, or shared or local memory."""
    for base, name in ((SHARED_BASE, "shared memory"), (LOCAL_BASE, "local memory")):
        if base <= address < base + WINDOW:
            return name
    buffer = arena.find(address)
    return buffer.name if buffer else ""
