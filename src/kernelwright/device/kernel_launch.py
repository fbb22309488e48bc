"""One launch of a kernel as a value: what every executor is given, with the arena whose memory the kernel runs on."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.device.fault import Triple
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import Variables
from kernelwright.ir import Module


@dataclass(frozen=True)
class KernelLaunch:
    """A kernel of ``module``, by its mangled name, and how it is to run."""

    module: Module
    kernel: str
    grid: Triple
    block: Triple
    arguments: bytes
    """The packed parameter buffer: every parameter at its natural alignment."""
    shared_bytes: int
    """Of dynamic shared memory."""
    variables: Variables
    """The module's device variables, in memory already."""
    schedule: Schedule
    budget: int
    """Bounds the work, in the executor's own unit."""
