"""Kernels of this benchmark on a virtual GPU: what the model is told of a launch, its accesses as the code makes them, and its estimate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy.typing as npt

from kernelwright.device.arena import Arena
from kernelwright.device.arguments import pack
from kernelwright.device.execution import Execution
from kernelwright.device.load_module import load
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.device.virtual_gpu.launch_estimates import Timing
from kernelwright.errors import DeviceError
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.target import Gpu

FOLDER = Path(__file__).parent / "kernels"


@cache
def compiled(name: str, arch: str) -> Program:
    """A file of kernels, compiled for an architecture. Raises ``CompileError``."""
    return compile_program(FOLDER / name, arch=arch)


class TimedKernels:
    """The kernels of one file on one GPU, which begins with cold caches."""

    def __init__(self, source: str, gpu: Gpu) -> None:
        self.gpu = gpu
        self._program = compiled(source, gpu.arch)
        module = self._program.units[0].module
        self._arena = Arena()
        self._loaded = load(module, self._arena, source)
        self._timing = Timing(gpu, self._arena)
        self._virtual = VirtualGpu()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._arena.close()

    def array(self, contents: npt.NDArray[Any]) -> int:
        """Its address on the device."""
        address = self.zeros(contents.nbytes)
        self.write(address, contents)
        return address

    def write(self, address: int, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to a device address."""
        self._arena.bytes(address, contents.nbytes)[:] = contents.tobytes()

    def zeros(self, size: int) -> int:
        """The address of so many bytes."""
        return self._arena.allocate(size, "zeros", fill=None).address

    def constant(self, name: str, contents: npt.NDArray[Any]) -> None:
        """Copies ``contents`` to the device variable ``name``."""
        self._arena.view(self._loaded.variables.buffers[name], contents.dtype)[:] = contents

    def launch(self, kernel: str, grid: int, block: int, *arguments: int | float) -> tuple[Observed, Estimate]:
        """Raises ``DeviceError`` for a launch without an estimate."""
        done = self._timing.launch(self._virtual, self._execution(kernel, grid, block, arguments))
        if done.estimate is None or self._timing.last is None:
            raise DeviceError(f"{kernel} has no estimate: {done.fault or self._timing.untimed}")
        return self._timing.last

    def sampled(self, kernel: str, grid: int, block: int, *arguments: int | float) -> Estimate:
        """Of a large grid, from some of its blocks. Raises as ``launch``."""
        return self._timing.of_sample(self._virtual, self._execution(kernel, grid, block, arguments))[0]

    def _execution(self, kernel: str, grid: int, block: int, arguments: tuple[int | float, ...]) -> Execution:
        name = self._program.kernel(kernel).name
        packed = pack(self._loaded.module.function(name), arguments)
        return Execution(self._loaded, Launch(name, (grid, 1, 1), (block, 1, 1), packed))


@dataclass(frozen=True)
class VirtualBench:
    """What microbenchmarks run on, where that is a virtual GPU."""

    gpu: Gpu
    source: str

    def kernels(self) -> TimedKernels:
        """The kernels of ``source`` on a virtual ``gpu`` whose caches are cold."""
        return TimedKernels(self.source, self.gpu)


def counted(observed: Observed, estimate: Estimate) -> Mapping[str, float]:
    """By name: what was counted of a launch. ``global load sectors``, ``shared store wavefronts``, ``global atomic turns``,
    ``fp32 instructions``, ``barriers of a block``, and so on."""
    found: dict[str, float] = {"barriers of a block": estimate.barriers}
    for access in observed.accesses:
        for what in ("requests", "sectors", "wavefronts"):
            name = f"{access.space} {access.kind} {what}"
            found[name] = found.get(name, 0) + getattr(access, what)
        name = f"{access.space} {access.kind} further turns"
        found[name] = found.get(name, 0) + access.serial
        lanes = sum(b.lanes for b in observed.blocks if (b.function, b.label) == (access.function, access.label))
        found[f"{access.space} {access.kind} lanes"] = found.get(f"{access.space} {access.kind} lanes", 0) + lanes
    return found | {f"{kind} instructions": n for kind, n in estimate.instructions.items()}
