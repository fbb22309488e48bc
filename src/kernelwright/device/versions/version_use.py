"""What is counted of kernels that have versions: which one ran, which checks failed, and the estimated time.

use.row("_Z6smoothPKfPfiii")    {"kernel": "smooth", "original": {...}, "versions": [{"name": "smooth-1:v59", ...}]}
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from kernelwright.cuda.names import readable
from kernelwright.kernel_version import Version
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass

Shape = tuple[Any, ...]
"""Launches of one shape: grid, block and shared memory."""


def shape_of(launch: Launch) -> Shape:
    """Grid, block and dynamic shared bytes."""
    return launch.grid, launch.block, launch.shared_bytes


@dataclass
class _Sample:
    """Launches of one shape that both ran at, the original aside."""

    version_us: float = 0.0
    original_us: float = 0.0


@dataclass
class VersionUse:
    """One version of a kernel."""

    version: Version
    refused: str = ""
    """Why it is never used, when it is not."""
    launches: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """By check, in words: at how many launches it did not hold."""
    by_shape: dict[Shape, list[float]] = field(default_factory=dict)
    """How often it ran at a shape, and how long that took."""
    samples: dict[Shape, _Sample] = field(default_factory=dict)

    def ran(self, shape: Shape, time_us: float) -> None:
        """Counts one launch of the version at a shape, with its time in microseconds."""
        self.launches += 1
        of_shape = self.by_shape.setdefault(shape, [0, 0.0])
        of_shape[0] += 1
        of_shape[1] += time_us

    def is_due(self, shape: Shape) -> bool:
        """Whether the original is to be run beside the next launch of this shape: the first, second, fourth, eighth, ... of them."""
        count = int(self.by_shape.get(shape, [0])[0]) + 1
        return count & (count - 1) == 0

    def sampled(self, shape: Shape, version_us: float, original_us: float) -> None:
        """Adds the times, in microseconds, of a launch that both the version and the original ran."""
        sample = self.samples.setdefault(shape, _Sample())
        sample.version_us += version_us
        sample.original_us += original_us

    @property
    def time_us(self) -> float:
        """The time of all its launches together, in microseconds."""
        return sum(time for _, time in self.by_shape.values())

    @property
    def original_us(self) -> float | None:
        """What the original would have taken for the same launches, from those that both ran at; None where it is unknown."""
        total = 0.0
        for shape, (_, time) in self.by_shape.items():
            sample = self.samples.get(shape)
            if sample is None or not sample.version_us:
                return None
            total += time * sample.original_us / sample.version_us
        return total

    def as_json(self) -> dict[str, Any]:
        """A row of ``kw run --json``; times in microseconds, ``original_us`` null where it is unknown."""
        return {
            "name": self.version.name, "label": self.version.label, "launches": self.launches, "refused": self.refused,
            "failed": dict(self.failed), "time_us": self.time_us, "original_us": self.original_us,
        }  # fmt: skip


@dataclass
class KernelUse:
    """A kernel with its versions, in the order they are tried."""

    kernel: str
    versions: list[VersionUse]
    originals: int = 0
    """Launches of the original."""
    original_us: float = 0.0
    launch_us: float = 0.0
    """What launching costs, of all launches of the kernel together; no other time has it. 0 where times are measured, which have it."""

    def as_json(self) -> dict[str, Any]:
        """The kernel in ``kw run --json`` with a row for each version; times in microseconds."""
        return {
            "kernel": readable(self.kernel),
            "mangled": self.kernel,
            "launch_us": self.launch_us,
            "original": {"launches": self.originals, "time_us": self.original_us},
            "versions": [each.as_json() for each in self.versions],
        }
