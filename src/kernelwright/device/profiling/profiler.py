"""What ``kw profile`` sees of a session: every launch followed and estimated, gathered by kernel and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.device.profiling.profile_rows import Profiled, Shape
from kernelwright.device.serving.observer import Launching, Observer
from kernelwright.device.virtual.launch_estimates import Timing

if TYPE_CHECKING:
    from kernelwright.device.serving.session import Session
    from kernelwright.device.virtual.gpu import Launched, Prepared


class Profiler(Observer):
    """Estimates every launch of a program."""

    def __init__(self) -> None:
        self.profiled: dict[Shape, Profiled] = {}

    def attach(self, session: Session) -> None:
        self._timing = Timing(session.settings.gpu, session.arena)

    def launch(self, launching: Launching, prepared: Prepared, budget: int) -> Launched | None:
        launched = self._timing.launch(
            launching.loaded, prepared, launching.grid, launching.arguments, launching.shared_bytes, budget=budget
        )
        shape = (launching.kernel, launching.grid, launching.block, launching.shared_bytes)
        row = self.profiled.setdefault(shape, Profiled(shape))
        row.launches += 1
        if launched.estimate is None or self._timing.last is None:
            row.trouble = self._timing.untimed.get(launching.kernel, "it stopped with a fault")
        else:
            row.add(launched.estimate, self._timing.last[0])
        return launched
