"""Launches of machine code on a real GPU, for cases that run in this process: memory goes there, runs, and comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.real_gpu.cuda_executor import job_of, memory_of, run_job
from kernelwright.device.real_gpu.gpu import CudaLaunched
from kernelwright.device.real_gpu.worker import CudaWorker, Job, WorkerDied
from kernelwright.evaluate.judging.case_runner import Stopped
from kernelwright.evaluate.judging.variant_launches import all_hold
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.timing.machine_code import Code
from kernelwright.lazy_dataclasses import dataclass


class OnTheWay(Protocol):
    """Sees a launch before it is made: what runs, what the original would run, and the memory."""

    def __call__(self, job: Job, original: Job, memory: Sequence[tuple[int, bytes]]) -> None: ...


@dataclass(frozen=True, eq=False)
class GpuExecutor:
    """An executor of machine code: the modules only say what kernels take. Schedules and budgets are the GPU's own."""

    worker: CudaWorker
    original: Code
    variant: Code
    """Kernels that differ from the original's."""
    on_the_way: OnTheWay | None = None
    timeout_s: float | None = None
    """Of a launch; None: the worker's own."""

    def __call__(self, execution: Execution, arena: Arena) -> CudaLaunched:
        """Raises ``DeviceError`` for a launch that the driver refuses, ``Stopped`` when the GPU's process dies of it."""
        code = self.original[execution.launch.kernel]
        changed = self.variant.get(execution.launch.kernel, code)
        if changed.guards and not all_hold(changed.guards, facts_of_execution(execution, arena)):
            changed = code
        job, memory = job_of(execution, changed.image), memory_of(arena)
        try:
            if self.on_the_way is not None:
                self.on_the_way(job, job_of(execution, code.image), memory)
            return run_job(self.worker, job, memory, arena, self.timeout_s)
        except WorkerDied as died:
            raise Stopped(Rejected("crash", died.message)) from None
