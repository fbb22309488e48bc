"""A real GPU as an executor of recorded and written cases: the memory of an arena goes to the GPU, runs, and comes back.

with CudaWorker(0) as worker:
    for launch in replay(capture, CudaExecutor(worker)):
        ...
"""

from __future__ import annotations

from kernelwright.device.cuda.gpu import CudaLaunched
from kernelwright.device.cuda.worker import CudaWorker, Image, Job
from kernelwright.device.fault import Triple
from kernelwright.device.memory import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import Variables
from kernelwright.errors import ToolError
from kernelwright.ir import Module, print_module


class CudaExecutor:
    """Runs kernels where ``worker`` is. Schedules and budgets are the GPU's own: those asked for are not looked at."""

    def __init__(self, worker: CudaWorker) -> None:
        self.worker = worker
        self._images: dict[int, tuple[Module, Image]] = {}

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
        """Raises ``CompileError`` for code that no assembler takes, ``DeviceError`` for a launch the driver refuses."""
        placed = variables.buffers if variables is not None else {}
        job = Job(
            self.image(module), kernel_name, grid, block, arguments, shared_bytes,
            tuple((name, buffer.address) for name, buffer in placed.items()),
        )  # fmt: skip
        buffers = [(b.address, bytes(arena.bytes(b.address, b.size))) for b in arena.buffers]
        launched, after = self.worker.run(job, buffers)
        for address, data in after.items():
            arena.bytes(address, len(data))[:] = data
        return launched

    def image(self, module: Module) -> Image:
        """A module as the GPU takes it, made at first use."""
        known = self._images.get(id(module))
        if known is None:
            # The module is kept, too, so that its id stays its own.
            known = self._images[id(module)] = module, image_of(print_module(module), self.worker.info().arch)
        return known[1]


def image_of(ir: str, arch: str, source: str = "") -> Image:
    """IR as machine code for ``arch``; as PTX, which the driver compiles, where no assembler is installed or knows ``arch``.

    Raises ``CompileError`` for code that the assembler refuses.
    """
    from kernelwright.codegen.cubin import assemble
    from kernelwright.codegen.ptx import emit_ptx

    ptx = emit_ptx(ir, arch, isolate=True)
    try:
        return Image(assemble(ptx, arch, isolate=True).data, source)
    except ToolError:
        return Image(ptx.encode(), source)
