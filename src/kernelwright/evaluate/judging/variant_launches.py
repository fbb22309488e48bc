"""Launches of variants on the virtual GPU: compiled code kept by what was built, guards asked, the first schedule followed.

A kernel whose guards do not hold at a launch is not used there: the original runs, as it would in a program that holds
both. So a variant that is made for one size is right everywhere and fast where it was made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.fault import Fault
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.timing_model.launch_observation import watch_of
from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
from kernelwright.evaluate.judging.variant import Built
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.lazy_dataclasses import dataclass

KEPT = 64
"""Compiled kernels kept: machine code and tables of some hundred kilobytes each."""

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

    def __call__(self, execution: Execution, arena: Arena) -> Done:
        """Raises ``CompileError`` for code the virtual GPU refuses and ``DeviceError`` for an impossible launch."""
        launch = execution.launch
        built = self.kernels[launch.kernel]
        if built.guards and not all_hold(built.guards, facts_of_execution(execution, arena)):
            built = self.originals[launch.kernel]
        loaded = Loaded(built.module, execution.loaded.variables, key=built.key)
        split = execution.schedule.kind == "subwarp"
        # A variant runs a few times: better code would not pay for itself.
        options = WITHOUT_LOG if split else WITH_LOG
        compiled = self.gpu.compile(loaded, launch.kernel, launch.block, options, split=split)
        watch = RACES if self.watch else watch_of(launch.grid) if self.follow else None
        launched = self.gpu.run(replace(execution, loaded=loaded), arena, compiled=compiled, watch=watch)
        return Done(built, launched, arena.bounds())


def all_hold(guards: tuple[Guard, ...], facts: LaunchFacts) -> bool:
    """Whether a kernel with these guards may be used for a launch."""
    return all(guard.holds(facts) for guard in guards)
