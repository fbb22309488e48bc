"""The virtual GPU as an executor: a function that runs one launch on the memory of an arena, compiled code kept between.

run = VirtualExecutor()
launched = run(module, "saxpy", (64, 1, 1), (256, 1, 1), packed, arena, variables=variables, shared_bytes=0,
               schedule=Schedule.forward(), budget=BUDGET)
"""

from __future__ import annotations

from kernelwright.device.fault import Triple
from kernelwright.device.memory import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET
from kernelwright.device.variables import Variables, load_variables
from kernelwright.device.virtual import Launched, Loaded, VirtualGpu
from kernelwright.ir import Module


class VirtualExecutor:
    """Runs launches of any module on any arena, one at a time. A kernel is compiled once per block shape."""

    def __init__(self) -> None:
        self._gpu: VirtualGpu | None = None
        self._loaded: dict[int, Loaded] = {}

    def __call__(
        self,
        module: Module,
        kernel_name: str,
        grid: Triple,
        block: Triple,
        arguments: bytes,
        arena: Arena,
        /,
        *,
        variables: Variables | None = None,
        shared_bytes: int = 0,
        schedule: Schedule | None = None,
        budget: int = BUDGET,
    ) -> Launched:
        """Raises ``CompileError`` for code the virtual GPU refuses and ``DeviceError`` for an impossible launch."""
        if self._gpu is None:
            self._gpu = VirtualGpu(arena)
        self._gpu.arena = arena
        held = variables if variables is not None else load_variables(module, arena)
        loaded = self._loaded.get(id(module))
        if loaded is None:
            loaded = self._loaded[id(module)] = Loaded(module, held)
        loaded.variables = held
        return self._gpu.launch(
            loaded, kernel_name, grid, block, arguments, shared_bytes, schedule=schedule, budget=budget
        )
