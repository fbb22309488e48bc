"""Launches of variants on the virtual GPU: compiled code kept by what was built, guards asked, the first schedule followed.

A kernel whose guards do not hold at a launch is not used there: the original runs, as it would in a program that holds
both. So a variant that is made for one size is right everywhere and fast where it was made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from kernelwright.codegen.simt.launching.compiled_kernel import CompiledKernel
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.fault import Fault
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.timing_model.launch_observation import watch_of
from kernelwright.device.timing_model.neighbours import watched
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.device.virtual_gpu.sampled_launch import Sample, multiplied, sample
from kernelwright.evaluate.judging.variant import Built
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.lazy_dataclasses import dataclass

KEPT = 64
"""Compiled kernels kept: machine code and tables of some hundred kilobytes each."""

ONE_FORM, ONE_FORM_EACH = 100_000, 1_000
"""Blocks of instructions that the warps of a case run at most, at all or for each instruction of the kernels, for a second form of the
code to cost more than it saves: svm (475 an instruction) is judged in 0.85 of the time with one form, bfs (70,000 blocks) in 0.88, btree
(128,000; 760 an instruction) in the same, HotSpot (233,000; 1,780) in 1.12."""

RACES = Watch(races=True, unwritten=True)
WITH_LOG, WITHOUT_LOG = SimtOptions(trace=True, level=0), SimtOptions(level=0)


@dataclass(frozen=True, eq=False)
class Done:
    """One launch that was made. ``built`` is the kernel that ran: the variant's, or the original's where guards said so."""

    built: Built
    launched: Launched
    bounds: npt.NDArray[Any]
    """The buffers there were, as ``Arena.bounds`` has them."""

    @property
    def fault(self) -> Fault | None:
        return self.launched.fault


@dataclass(frozen=True, eq=False)
class VariantExecutor:
    """An executor of built kernels. ``follow``: log what the timing model wants to know; ``watch``: look for races and unwritten
    memory. A case's own modules only say what kernels take."""

    gpu: VirtualGpu
    kernels: Mapping[str, Built]
    """By name, the kernels that are launched."""
    originals: Mapping[str, Built]
    """What runs where their guards do not hold."""
    follow: bool = False
    watch: bool = False
    one_form: bool = False
    """Whether one form of the code makes all launches, that for schedules that split warps: it is slower, and compiled once."""
    drawn: tuple[int, ...] = ()
    """Where any are named, only these blocks of the grid and those that the timing model follows run, in order; what they count
    is multiplied up to the whole grid."""
    only: tuple[int, ...] = ()
    """Where any are named, only these blocks run, in this order; nothing is multiplied."""

    def __call__(self, execution: Execution, arena: Arena) -> Done:
        """Raises ``CompileError`` for code the virtual GPU refuses and ``DeviceError`` for an impossible launch."""
        built, execution, compiled = self._prepared(execution, arena)
        launched = self._launched(execution, arena, compiled)
        return Done(built, launched, arena.bounds())

    def sample(self, execution: Execution, arena: Arena, whole: Done) -> Sample | None:
        """A sample of the launch that is good enough, as ``sampled_launch.sample`` has it; all of it did what ``whole`` did."""
        _, execution, compiled = self._prepared(execution, arena)
        return sample(self.gpu, execution, arena, compiled=compiled, whole=whole.launched.result)

    def _prepared(self, execution: Execution, arena: Arena) -> tuple[Built, Execution, CompiledKernel]:
        """The kernel that runs, how, and its code."""
        launch = execution.launch
        built = self.kernels[launch.kernel]
        if built.guards and not all_hold(built.guards, facts_of_execution(execution, arena)):
            built = self.originals[launch.kernel]
        loaded = Loaded(built.module, execution.loaded.variables, key=built.key)
        split = self.one_form or execution.schedule.kind == "subwarp"
        # A variant runs a few times: better code would not pay for itself.
        options = WITHOUT_LOG if split and not self.one_form else WITH_LOG
        compiled = self.gpu.compile(loaded, launch.kernel, launch.block, options, split=split)
        return built, replace(execution, loaded=loaded), compiled

    def _launched(self, execution: Execution, arena: Arena, compiled: CompiledKernel) -> Launched:
        grid = execution.launch.grid
        watch = RACES if self.watch else watch_of(grid) if self.follow else None
        if not self.drawn:
            return self.gpu.run(execution, arena, compiled=compiled, watch=watch, blocks=self.only or None)
        blocks = grid[0] * grid[1] * grid[2]
        followed = self.gpu.run(execution, arena, compiled=compiled, watch=watch, blocks=watched(grid))
        if followed.fault is not None:
            return followed
        counted = self.gpu.run(execution, arena, compiled=compiled, blocks=self.drawn)
        if counted.fault is not None:
            return counted
        result = multiplied(followed.result, [counted.result], blocks, len(self.drawn))
        result = replace(result, budget_left=min(followed.result.budget_left, counted.result.budget_left))
        return replace(followed, result=result, overreads=followed.overreads + counted.overreads)


def all_hold(guards: tuple[Guard, ...], facts: LaunchFacts) -> bool:
    """Whether a kernel with these guards may be used for a launch."""
    return all(guard.holds(facts) for guard in guards)


def one_form_pays(kernels: Mapping[str, Built], most_work: int) -> bool:
    """Whether one form of these kernels' code, that for schedules that split warps, had better make all launches.

    ``most_work``: blocks of instructions that the warps of a case run, of the case that does most.
    """
    functions = [function for built in kernels.values() for function in built.module.functions.values()]
    instructions = sum(len(block.instructions) for function in functions for block in function.blocks)
    return most_work <= max(ONE_FORM, ONE_FORM_EACH * instructions)
