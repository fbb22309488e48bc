"""A nominal time for tests: one microsecond per instruction that any thread executed on the slow executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from kernelwright.device.reference import ReferenceResult
from kernelwright.evaluate.judging.case_runner import Ran


def instructions(results: Sequence[Ran]) -> tuple[float, Mapping[str, float]]:
    count = float(sum(cast(ReferenceResult, result).instructions for result in results))
    return count, {"instructions": count}
