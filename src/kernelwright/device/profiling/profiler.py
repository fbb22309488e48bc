"""What ``kw profile`` sees of a session: every launch followed and estimated, gathered by kernel and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.device.profiling.profile_rows import Profiled, Shape
from kernelwright.device.serving.observer import Observed, Observer
from kernelwright.device.virtual_gpu.launch_estimates import Timing

if TYPE_CHECKING:
    from kernelwright.device.execution import Execution
    from kernelwright.device.libraries.routine_call import Call
    from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu


class Profiler(Observer):
    """Estimates every launch of a program."""

    def __init__(self) -> None:
        self.profiled: dict[Shape, Profiled] = {}

    def attach(self, session: Observed) -> None:
        self._timing = Timing(session.settings.gpu, session.arena)

    def launch(self, execution: Execution, gpu: VirtualGpu) -> Launched | None:
        launched = self._timing.launch(gpu, execution)
        shape = execution.launch.geometry
        row = self.profiled.setdefault(shape, Profiled(shape))
        row.launches += 1
        if launched.estimate is None or self._timing.last is None:
            row.trouble = self._timing.untimed.get(execution.launch.kernel, "it stopped with a fault")
        else:
            row.add(launched.estimate, self._timing.last[0])
        return launched

    def after_library_call(self, call: Call, seconds: float) -> None:
        shape = (call.name, (1, 1, 1), (1, 1, 1), 0)
        row = self.profiled.setdefault(shape, Profiled(shape))
        row.launches += 1
        row.add_call(call.time_us, call.launch_us, call.bound_by)
