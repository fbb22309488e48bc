"""The simplest judge: the slow executor, and instructions in place of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from kernelwright.device.reference import ReferenceResult, run_reference
from kernelwright.evaluate.judge import Judge
from kernelwright.evaluate.outcome import Ok
from kernelwright.evaluate.runner import Modules, Ran, kernel_called
from kernelwright.evaluate.workload import Workload
from kernelwright.ir import Module


def instructions(results: Sequence[Ran]) -> tuple[float, Mapping[str, float]]:
    """A nominal time: one microsecond per instruction that any thread executed."""
    count = float(sum(cast(ReferenceResult, result).instructions for result in results))
    return count, {"instructions": count}


class ExecutedInstructions(Judge):
    """Judges modules by the thread instructions they execute over all cases of a workload."""

    def __init__(self, workload: Workload, kernel: str) -> None:
        super().__init__(workload, run_reference, cost=instructions)
        self.kernel = kernel

    def reference(self, modules: Modules | Module) -> Ok:
        original = super().reference(modules)
        if isinstance(modules, Module):
            kernel_called(self._original, self.kernel)
        # A candidate that executes twice the original's instructions is not going to be faster.
        self.budget = int(2 * original.time_us) + 1000
        return original
