"""What an executor is given: a launch with its code, in memory, and how it is to run.

loaded = load(module, arena)
execution = Execution(loaded, Launch("saxpy", (64, 1, 1), (256, 1, 1), parameters))
result = executor(execution, arena)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import BUDGET
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from kernelwright.device.variables import Variables
    from kernelwright.ir.module import Module

FORWARD = Schedule.forward()
LAUNCH_QUEUE = "__kw_device_launches"
"""The variable in which kernels leave what they launch (``virtual_gpu/device_launches.py``)."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A module whose variables are in the memory of an arena."""

    module: Module
    variables: Variables
    source: str = ""
    """For messages."""
    ptx: Mapping[str, str] = field(default_factory=dict)
    """By architecture, as far as it is known already."""
    key: Hashable = None
    """Equal for modules of the same code; None: this module's alone."""


@dataclass(frozen=True, init=False)
class Execution:
    """A launch of a kernel in ``loaded``. The arena is given beside it: memory is no value."""

    loaded: Loaded
    launch: Launch
    schedule: Schedule = FORWARD
    budget: int = BUDGET
    """Bounds the work, in the executor's own unit."""
    stream: int = 0
    """Of the program that launched; executors run one launch at a time."""
    overread: int | None = None
    """The byte that a read past a buffer gives (``overread.py``). None: it is a fault, as are warps of a block that are there for
    each other at different barriers, which GPUs let pass, too."""

    def __init__(
        self,
        loaded: Loaded,
        launch: Launch,
        schedule: Schedule = FORWARD,
        budget: int = BUDGET,
        stream: int = 0,
        overread: int | None = None,
    ) -> None:
        # As in ``Launch``.
        fields = self.__dict__
        fields["loaded"], fields["launch"], fields["schedule"] = loaded, launch, schedule
        fields["budget"], fields["stream"], fields["overread"] = budget, stream, overread
