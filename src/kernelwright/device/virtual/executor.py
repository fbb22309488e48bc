"""The virtual GPU as an executor: a function that runs one launch on the memory of an arena, compiled code kept between.

run = VirtualExecutor()
launch = KernelLaunch(module, "saxpy", (64, 1, 1), (256, 1, 1), packed, 0, variables, Schedule.forward(), BUDGET)
launched = run(launch, arena)
"""

from __future__ import annotations

from kernelwright.device.arena import Arena
from kernelwright.device.kernel_launch import KernelLaunch
from kernelwright.device.virtual.gpu import Launched, Loaded, VirtualGpu


class VirtualExecutor:
    """Runs launches of any module on any arena, one at a time. A kernel is compiled once per block shape."""

    def __init__(self) -> None:
        self._gpu: VirtualGpu | None = None
        self._loaded: dict[int, Loaded] = {}

    def __call__(self, launch: KernelLaunch, arena: Arena) -> Launched:
        """Raises ``CompileError`` for code the virtual GPU refuses and ``DeviceError`` for an impossible launch."""
        if self._gpu is None:
            self._gpu = VirtualGpu(arena)
        self._gpu.arena = arena
        loaded = self._loaded.get(id(launch.module))
        if loaded is None:
            loaded = self._loaded[id(launch.module)] = Loaded(launch.module, launch.variables)
        loaded.variables = launch.variables
        return self._gpu.launch(
            loaded, launch.kernel, launch.grid, launch.block, launch.arguments, launch.shared_bytes,
            schedule=launch.schedule, budget=launch.budget,
        )  # fmt: skip
