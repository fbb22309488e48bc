"""Launches of machine code on a real GPU, for cases that run in this process: memory goes there, runs, and comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from kernelwright.device.cuda.gpu import CudaLaunched
from kernelwright.device.cuda.worker import CudaWorker, Job, WorkerDied
from kernelwright.device.fault import Triple
from kernelwright.device.memory import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import Variables
from kernelwright.evaluate.launching import all_hold, asked_of
from kernelwright.evaluate.machine_code import Code
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.runner import Stopped
from kernelwright.ir import Module


class OnTheWay(Protocol):
    """Sees a launch before it is made: what runs, what the original would run, and the memory."""

    def __call__(self, job: Job, original: Job, memory: Sequence[tuple[int, bytes]]) -> None: ...


class GpuLaunches:
    """An executor (``evaluate.runner.Executor``). Which code runs is said by ``original`` and ``variant``: the modules only
    say what kernels take. Schedules and budgets are the GPU's own."""

    def __init__(self, worker: CudaWorker) -> None:
        self.worker = worker
        self.original: Code = {}
        self.variant: Code = {}
        """Kernels that differ from the original's."""
        self.on_the_way: OnTheWay | None = None

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
        variables: Variables | None,
        shared_bytes: int,
        schedule: Schedule,
        budget: int,
    ) -> CudaLaunched:
        """Raises ``DeviceError`` for a launch that the driver refuses, ``Stopped`` when the GPU's process dies of it."""
        assert variables is not None
        code = self.original[kernel_name]
        changed = self.variant.get(kernel_name, code)
        if changed.guards:
            asked = asked_of(module.functions[kernel_name], grid, block, arguments, arena, variables)
            changed = changed if all_hold(changed.guards, asked) else code
        placed = tuple((name, buffer.address) for name, buffer in variables.buffers.items())
        original = Job(code.image, kernel_name, grid, block, arguments, shared_bytes, placed)
        job = replace(original, image=changed.image)
        memory = [(b.address, bytes(arena.bytes(b.address, b.size))) for b in arena.buffers]
        try:
            if self.on_the_way is not None:
                self.on_the_way(job, original, memory)
            launched, after = self.worker.run(job, memory)
        except WorkerDied as died:
            raise Stopped(Rejected("crash", died.message)) from None
        for address, data in after.items():
            arena.bytes(address, len(data))[:] = data
        return launched
