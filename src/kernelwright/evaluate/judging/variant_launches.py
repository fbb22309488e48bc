"""Launches of variants on the virtual GPU: compiled code kept by what was built, guards asked, the first schedule followed.

A kernel whose guards do not hold at a launch is not used there: the original runs, as it would in a program that holds
both. So a variant that is made for one size is right everywhere and fast where it was made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.running.compiled_kernel import CompiledKernel, compile_host
from kernelwright.codegen.simt.running.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.fault import Fault, Triple
from kernelwright.device.geometry import check_geometry
from kernelwright.device.kernel_launch import KernelLaunch
from kernelwright.device.model.launch_observation import watch_of
from kernelwright.device.virtual.gpu import Launched, Loaded, Prepared, VirtualGpu
from kernelwright.evaluate.judging.variant import Built
from kernelwright.guards import Guard
from kernelwright.guards import Launch as Asked
from kernelwright.ir.types import PointerType
from kernelwright.lru import LruCache

KEPT = 64
"""Compiled kernels kept: machine code and tables of some hundred kilobytes each."""

RACES = Watch(races=True, unwritten=True)


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


class Launches:
    """An executor of built kernels (``evaluate.runner.Executor``). ``follow``: log what the timing model wants to know;
    ``watch``: look for races and unwritten memory."""

    def __init__(self) -> None:
        self.follow = False
        self.watch = False
        self._known: dict[int, Built] = {}
        self._originals: Mapping[str, Built] = {}
        self._compiled: LruCache[tuple[str, str, Triple, bool], CompiledKernel] = LruCache(KEPT)
        self._gpu: VirtualGpu | None = None

    def use(self, kernels: Mapping[str, Built], originals: Mapping[str, Built]) -> None:
        """Which kernels the modules are that will be launched, and what runs where their guards do not hold."""
        self._known = {id(built.module): built for built in kernels.values()}
        self._originals = originals

    def __call__(self, launch: KernelLaunch, arena: Arena) -> Done:
        """Raises ``CompileError`` for code the virtual GPU refuses and ``DeviceError`` for an impossible launch."""
        built = self._known[id(launch.module)]
        if built.guards and not all_hold(built.guards, asked_of(launch, arena)):
            built = self._originals[launch.kernel]
        if self._gpu is None:
            self._gpu = VirtualGpu(arena)
        self._gpu.arena = arena
        loaded = Loaded(built.module, launch.variables)
        compiled = self._code(built, launch.block, split=launch.schedule.kind == "subwarp")
        prepared = Prepared(self._gpu, loaded, launch.kernel, launch.block, compiled)
        watch = RACES if self.watch else watch_of(launch.grid) if self.follow else None
        launched = prepared.launch(
            launch.grid, launch.arguments, launch.shared_bytes,
            schedule=launch.schedule, budget=launch.budget, watch=watch,
        )  # fmt: skip
        return Done(built, launched, arena.bounds())

    def _code(self, built: Built, block: Triple, *, split: bool) -> CompiledKernel:
        def make() -> CompiledKernel:
            check_geometry(built.kernel, (1, 1, 1), block)
            # A variant runs a few times: better code would not pay for itself.
            options = SimtOptions(block=block, trace=not split, split=split, level=0)
            return compile_host(lower(built.module, built.kernel, options))

        return self._compiled.get_or_make((built.kernel, built.key, block, split), make)


def all_hold(guards: tuple[Guard, ...], launch: Asked) -> bool:
    """Whether a kernel with these guards may be used for a launch."""
    return all(guard.holds(launch) for guard in guards)


def asked_of(launch: KernelLaunch, arena: Arena) -> Asked:
    """A launch as guards ask about it."""
    parameters = parameter_layout(launch.module.functions[launch.kernel]).parameters
    each = tuple(launch.arguments[p.offset : p.offset + p.size] for p in parameters)
    regions = tuple(
        _region(arena, data) if isinstance(p.type, PointerType) and not p.byval else None
        for p, data in zip(parameters, each, strict=True)
    )
    variables = tuple(range(b.address, b.end) for b in launch.variables.buffers.values())
    return Asked(launch.grid, launch.block, each, regions, variables)


def _region(arena: Arena, data: bytes) -> range | None:
    buffer = arena.find(int.from_bytes(data, "little"))
    return range(buffer.address, buffer.end) if buffer is not None else None
