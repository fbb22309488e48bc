"""What a real GPU said of explored kernels: as it stands in a run's journal, and is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kernelwright.device.timing_model.fit import spearman
from kernelwright.lazy_dataclasses import dataclass

RIGHT = "right"
LEAST_RANKED = 5


@dataclass(frozen=True)
class MeasuredKernel:
    """``outputs``: ``right``, or what is not. Times in microseconds, without the launch; ``time_us`` is 0 where it did not run."""

    name: str
    estimated_us: float
    outputs: str
    time_us: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether it ran, and its outputs are what NumPy says."""
        return self.outputs == RIGHT


@dataclass(frozen=True)
class Measured:
    """On which GPU, of which kernels, and what cuBLAS takes for the same (None without it; then ``no_cublas`` says why, empty where it has
    no such routine)."""

    gpu: str
    kernels: tuple[MeasuredKernel, ...]
    cublas_us: float | None = None
    no_cublas: str = ""

    @property
    def order(self) -> list[MeasuredKernel]:
        """Those that are right, the fastest first."""
        return sorted((each for each in self.kernels if each.is_right), key=lambda each: each.time_us)

    @property
    def rank(self) -> float | None:
        """How far the estimates rank those that are right as the GPU does; None for too few."""
        some = self.order
        if len(some) < LEAST_RANKED:
            return None
        return spearman([each.estimated_us for each in some], [each.time_us for each in some])

    def of(self, name: str) -> float | None:
        """What the kernel takes; None where it was not measured, or was wrong."""
        return next((each.time_us for each in self.kernels if each.name == name and each.is_right), None)

    def as_json(self) -> dict[str, Any]:
        """As it stands in a run's journal."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Measured:
        """What ``as_json`` wrote."""
        return cls(**{**value, "kernels": tuple(MeasuredKernel(**each) for each in value["kernels"])})
