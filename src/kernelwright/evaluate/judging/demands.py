"""What is demanded of a variant besides right outputs: ``--accept``, and the schedules it has to be right under."""

from __future__ import annotations

from typing import Literal

from kernelwright.device.schedule import Schedule
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Accept = Literal["proven", "clean", "safe", "benign", "lockstep", "any"]
ACCEPT: dict[Accept, str] = {
    "proven": "right for every launch that its guards admit; searched as 'clean', settled by the proof at the end",
    "clean": "right under every schedule, also of lanes that do not run in step, and no race at all",
    "safe": "right under every schedule, also of lanes that do not run in step, and no race that the original has not",
    "benign": "right under every schedule, also of lanes that do not run in step",
    "lockstep": "right whatever the order of blocks and warps",
    "any": "right on the training cases, run in order",
}
"""What an accepted variant must be; strictest first."""


@dataclass(frozen=True)
class Demands:
    """What decides whether a candidate is accepted, besides its outputs."""

    accept: Accept = "safe"
    seed: int = 0
    """Of the schedules."""
    sampled: bool = False
    """Whether large launches are judged by a sample of their blocks (``sampled_cases.py``)."""

    def __post_init__(self) -> None:
        if self.accept not in ACCEPT:
            raise Misuse(f"--accept {self.accept} is none of {', '.join(ACCEPT)}", hint="proven is the strictest")

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedules after the first that a candidate must pass."""
        other, split = Schedule.random(self.seed + 1), Schedule.subwarp(4, self.seed + 2)
        return {"lockstep": (other,), "any": ()}.get(self.accept, (other, split))

    @property
    def no_new_races(self) -> bool:
        """Whether a race that the original has not is refused, whatever its values."""
        return self.accept in ("proven", "clean", "safe")
