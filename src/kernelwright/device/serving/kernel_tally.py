"""What ``kw run --report`` shows: for each kernel and each routine of a library, how often it ran and how long."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kernelwright.cuda.names import readable
from kernelwright.device.serving.observer import Observer
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from kernelwright.device.execution import Execution
    from kernelwright.device.libraries.routine_call import Call
    from kernelwright.device.virtual_gpu.gpu import Launched


@dataclass
class KernelTally:
    """One kernel. ``time_us`` is estimated for the GPU, without what launching costs, which is ``launch_us``; ``seconds`` is what this
    machine took."""

    kernel: str
    launches: int = 0
    time_us: float = 0.0
    launch_us: float = 0.0
    seconds: float = 0.0
    faults: int = 0


class Tally(Observer):
    """Counts launches by kernel, in the order of their first launch."""

    def __init__(self) -> None:
        self.kernels: dict[str, KernelTally] = {}

    def after_launch(self, execution: Execution, launched: Launched, seconds: float) -> None:
        kernel = execution.launch.kernel
        row = self.kernels.get(kernel)
        if row is None:
            row = self.kernels[kernel] = KernelTally(readable(kernel))
        row.launches += 1
        row.time_us += launched.kernel_us
        row.launch_us += launched.time_us - launched.kernel_us
        row.seconds += seconds
        row.faults += launched.fault is not None

    def after_library_call(self, call: Call, seconds: float) -> None:
        row = self.kernels.setdefault(call.name, KernelTally(call.name))
        row.launches += 1
        row.time_us += call.time_us
        row.launch_us += call.launch_us
        row.seconds += seconds

    def as_json(self) -> list[dict[str, Any]]:
        """A row for each kernel, in the order of their first launch."""
        return [asdict(row) for row in self.kernels.values()]
