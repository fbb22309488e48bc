"""A real GPU as an executor of recorded and written cases: the memory of an arena goes to the GPU, runs, and comes back.

with CudaWorker(0) as worker:
    for launch in replay(capture, CudaExecutor(worker)):
        ...
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.device.real_gpu.gpu import CudaLaunched
from kernelwright.device.real_gpu.worker import CudaWorker, Image, Job
from kernelwright.errors import ToolError
from kernelwright.ir import Module, print_module


class CudaExecutor:
    """Runs kernels where ``worker`` is. Schedules and budgets are the GPU's own: those asked for are not looked at."""

    def __init__(self, worker: CudaWorker) -> None:
        self.worker = worker
        self._images: dict[int, tuple[Module, Image]] = {}

    def __call__(self, execution: Execution, arena: Arena) -> CudaLaunched:
        """Raises ``CompileError`` for code that no assembler takes, ``DeviceError`` for a launch the driver refuses."""
        return run_job(self.worker, job_of(execution, self.image(execution.loaded.module)), memory_of(arena), arena)

    def image(self, module: Module) -> Image:
        """A module as the GPU takes it, made at first use."""
        known = self._images.get(id(module))
        if known is None:
            # The module is kept, too, so that its id stays its own.
            known = self._images[id(module)] = module, image_of(print_module(module), self.worker.info().arch)
        return known[1]


def job_of(execution: Execution, image: Image) -> Job:
    """A launch as the GPU's process takes it. ``image``: the code that runs, which need not be that of the launch's module."""
    placed = tuple((name, buffer.address) for name, buffer in execution.loaded.variables.buffers.items())
    return Job(image, execution.launch, placed)


def memory_of(arena: Arena) -> list[tuple[int, bytes]]:
    """What the arena's buffers hold, by address."""
    return [(b.address, bytes(arena.bytes(b.address, b.size))) for b in arena.buffers]


def run_job(
    worker: CudaWorker, job: Job, memory: Sequence[tuple[int, bytes]], arena: Arena, timeout_s: float | None = None
) -> CudaLaunched:
    """Runs a job on ``memory``, and writes to the arena what has changed. Raises as ``CudaWorker.run``."""
    launched, after = worker.run(job, memory, timeout_s=timeout_s)
    for address, data in after.items():
        arena.bytes(address, len(data))[:] = data
    return launched


def image_of(ir: str, arch: str, source: str = "") -> Image:
    """IR as machine code for ``arch``; as PTX, which the driver compiles, where no assembler is installed or knows ``arch``.

    Raises ``CompileError`` for code that the assembler refuses.
    """
    from kernelwright.codegen.machine.assemble import assemble
    from kernelwright.codegen.ptx import emit_ptx

    ptx = emit_ptx(ir, arch, isolate=True)
    try:
        return Image(assemble(ptx, arch, isolate=True).data, source)
    except ToolError:
        return Image(ptx.encode(), source)
