"""Running a case in this process: modules, memory and an executor, from launch to launch.

``Executor`` is what every way to run a kernel offers; ``execute_reference`` of the device room is one. A kernel that fails
ends the case with ``Stopped``, which carries the rejection: it never leaves ``evaluate``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.arena import Arena
from kernelwright.device.execution import FORWARD, Execution, Loaded
from kernelwright.device.fault import Fault
from kernelwright.device.load_module import load
from kernelwright.device.schedule import Schedule
from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.evaluate.outcome import Rejected, rejected_by
from kernelwright.ir import Function, Module
from kernelwright.launch import Launch, Triple

Argument = NDArray[Any] | int | float | np.generic | bytes | None
"""An argument of a kernel as people write it: an array (or None, the null pointer) for a pointer, a number for a number,
bytes for a struct passed by value."""

Modules = Mapping[str, Module]
"""By kernel, the module that holds it."""

BUDGET = 50_000_000
"""What one launch may spend when nothing else is said: minutes on the slow executor."""
NOTHING_PLACED: Mapping[str, int] = {}
LAUNCHES = 1_000_000
"""Launches that one case may make: a host loop that waits for a result may wait for ever."""


class Ran(Protocol):
    """What an executor says about a launch; memory holds the rest."""

    @property
    def fault(self) -> Fault | None:
        """Why the kernel stopped, None when it ran to its end."""


class Executor(Protocol):
    """A way to run one kernel on the memory of an arena."""

    def __call__(self, execution: Execution, arena: Arena, /) -> Ran:
        """Raises ``CompileError`` for code it refuses and ``DeviceError`` for an impossible launch."""  # fmt: skip


class Stopped(Exception):
    """A case came to an early end."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(str(rejected))
        self.rejected = rejected


class Runner:
    """Launches kernels of ``modules`` on one arena, one after another. Device variables keep their values in between."""

    def __init__(
        self, modules: Modules, executor: Executor, arena: Arena, *,
        schedule: Schedule = FORWARD, budget: int = BUDGET, launches: int = LAUNCHES, overread: int | None = None,
    ) -> None:  # fmt: skip
        """``overread``: the byte that a read past a buffer gives; None: such a read ends the case."""
        self.modules = modules
        self.executor = executor
        self.arena = arena
        self.schedule = schedule
        self.budget = budget
        self.launches = launches
        self.overread = overread
        self.results: list[Ran] = []
        self._loaded: dict[int, Loaded] = {}

    def through(self, executor: Executor) -> Runner:
        """The same run, launches from now on made by another executor."""
        other = Runner(
            self.modules, executor, self.arena, schedule=self.schedule, budget=self.budget, launches=self.launches,
            overread=self.overread,
        )  # fmt: skip
        other.results, other._loaded = self.results, self._loaded
        return other

    def launch(self, launch: Launch, placed: Mapping[str, int] = NOTHING_PLACED) -> Ran:
        """Runs a kernel. ``placed``: addresses of device variables that are in memory already, with the values they are to have.

        Raises ``Stopped`` when it fails.
        """
        if len(self.results) >= self.launches:
            raise Stopped(Rejected("timeout", f"the host launched more than {self.launches} kernels"))
        try:
            loaded = self._load(self.modules[launch.kernel], placed)
            execution = Execution(loaded, launch, self.schedule, self.budget, overread=self.overread)
            result = self.executor(execution, self.arena)
        except CompileError as error:
            raise Stopped(Rejected("compile", error.message, str(error.place or ""))) from None
        except DeviceError as error:
            raise Stopped(Rejected("launch", error.message, str(error.place or ""))) from None
        self.results.append(result)
        if result.fault is not None:
            raise Stopped(rejected_by(result.fault))
        return result

    def _load(self, module: Module, placed: Mapping[str, int]) -> Loaded:
        """The module with its device variables, loaded with their initial values when they are first asked for."""
        known = self._loaded.get(id(module))
        if known is None:
            # Kernels of one program share its variables, also when each is in a module of its own.
            there = {n: b for each in self._loaded.values() for n, b in each.variables.buffers.items()}
            there |= {n: b for n, a in placed.items() if (b := self.arena.find(a)) is not None}
            known = self._loaded[id(module)] = load(module, self.arena, placed=there)
        return known

    def function(self, kernel: str) -> Function:
        """The kernel's IR by its mangled name. Raises ``KeyError`` for one that no module has."""
        return self.modules[kernel].functions[kernel]


def by_kernel(module: Module) -> dict[str, Module]:
    """A module as a program of its own."""
    return {kernel.name: module for kernel in module.kernels}


def kernel_called(modules: Modules, name: str) -> str:
    """The mangled name of the kernel that a person calls ``name``. Raises ``Misuse`` with the names there are."""
    exact = [k for k in modules if k == name] or [k for k in modules if k.startswith(f"_Z{len(name)}{name}")]
    if len(exact) == 1:
        return exact[0]
    known = ", ".join(modules) or "none"
    raise Misuse(
        f"{'several kernels are' if exact else 'no kernel is'} called {name!r}", hint=f"the kernels are {known}"
    )


def triple(extent: Sequence[int]) -> Triple:
    """One to three extents as CUDA's three. Raises ``Misuse`` for more, or none."""
    if not 1 <= len(extent) <= 3:
        raise Misuse(f"{tuple(extent)} is no grid or block", hint="give one to three numbers, as CUDA's dim3")
    x, y, z = (*(int(n) for n in extent), 1, 1)[:3]
    return x, y, z
