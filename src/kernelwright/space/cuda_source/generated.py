"""A kernel made from decisions: its text, how it is launched and what it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class GeneratedKernel:
    """``source`` is CUDA C with one kernel, ``name``; it computes everything with this ``grid`` and ``block`` alone."""

    name: str
    source: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    """Of each block, static."""
    barriers: int
    """Places in the text where threads wait for one another."""
    registers: int
    """32-bit registers that hold values between instructions, at most."""
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    def arguments(self, memory: Mapping[str, Any], scalars: Mapping[str, float]) -> tuple[Any, ...]:
        """In the order of the kernel's parameters: arrays, then scalars."""
        return (*(memory[name] for name in self.arrays), *(float(scalars[name]) for name in self.scalars))
