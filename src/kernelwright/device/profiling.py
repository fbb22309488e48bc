"""What ``kw profile`` sees of a session: every launch followed and estimated, gathered by kernel and shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelwright.device.model.estimate import Estimate
from kernelwright.device.model.launched import observe
from kernelwright.device.model.observed import Observed
from kernelwright.device.observer import Launching, Observer
from kernelwright.device.timing import Timing

if TYPE_CHECKING:
    from kernelwright.device.fault import Triple
    from kernelwright.device.session import Session
    from kernelwright.device.virtual import Launched, Prepared

Shape = tuple[str, "Triple", "Triple", int]
"""Kernel, grid, block, dynamic shared bytes."""


@dataclass
class Profiled:
    """Launches of one shape. ``longest`` is the estimate of the longest of them, ``observed`` what was counted in it."""

    shape: Shape
    longest: Estimate | None = None
    observed: Observed | None = None
    times_us: list[float] = field(default_factory=list)
    launches: int = 0
    trouble: str = ""
    """Why there is no estimate."""


class Profiler(Observer):
    """Estimates every launch of a program."""

    def __init__(self) -> None:
        self.profiled: dict[Shape, Profiled] = {}

    def attach(self, session: Session) -> None:
        self._arena = session.arena
        self._timing = Timing(session.settings.gpu, session.arena)

    def launch(self, launching: Launching, prepared: Prepared, budget: int) -> Launched | None:
        launched = self._timing.launch(
            launching.loaded, prepared, launching.grid, launching.arguments, launching.shared_bytes, budget=budget
        )
        shape = (launching.kernel, launching.grid, launching.block, launching.shared_bytes)
        row = self.profiled.setdefault(shape, Profiled(shape))
        row.launches += 1
        found = launched.estimate
        if found is None:
            row.trouble = self._timing.untimed.get(launching.kernel, "it stopped with a fault")
            return launched
        if row.longest is None or found.time_us > row.longest.time_us:
            row.longest = found
            buffers = [(b.address, b.end) for b in self._arena.buffers]
            row.observed = observe(launched.result, launching.grid, launching.block, launching.shared_bytes, buffers)
        row.times_us.append(found.time_us)
        return launched
