"""What a worker is told by its surroundings: which GPU, and how much a kernel may take.

KERNELWRIGHT_DEVICE    the device: auto, or the name of a GPU
KERNELWRIGHT_BUDGET    times that the warps of one launch may go back in loops before it counts as endless
KERNELWRIGHT_TIMEOUT   seconds that one launch may run; 0: as long as it wants
KERNELWRIGHT_MEMORY    bytes of memory that the worker may use, device memory included; also 512M, 16G
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from kernelwright.errors import Misuse
from kernelwright.target import DEFAULT_GPU, Gpu, gpu

BUDGET = 1 << 34
"""Times that the warps of one launch may go back in loops before it counts as endless: a minute or two."""
TIMEOUT_S = 600.0
"""Ends a kernel without loops but with a billion blocks, which no budget of loop iterations ends."""

_SIZE = re.compile(r"(\d+)([KMGT]?)(i?B)?", re.I)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Settings:
    """How a device behaves."""

    gpu: Gpu
    budget: int = BUDGET
    timeout_s: float = TIMEOUT_S
    memory_bytes: int | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """From the environment of a worker. Raises ``Misuse`` naming the variable that makes no sense."""
        return cls(
            gpu=device_called(environment.get("KERNELWRIGHT_DEVICE") or "auto"),
            budget=_number(environment, "KERNELWRIGHT_BUDGET", BUDGET),
            timeout_s=float(_number(environment, "KERNELWRIGHT_TIMEOUT", int(TIMEOUT_S))),
            memory_bytes=size_in_bytes(environment["KERNELWRIGHT_MEMORY"])
            if environment.get("KERNELWRIGHT_MEMORY")
            else None,
        )


def device_called(name: str) -> Gpu:
    """The virtual GPU that ``name`` asks for. Raises ``Misuse`` for a name nobody knows, and for real GPUs."""
    if name == "auto":
        return gpu(DEFAULT_GPU)
    if re.fullmatch(r"cuda(:\d+)?", name):
        raise Misuse(
            f"device {name!r} is a real GPU, and running programs on real GPUs is not built yet",
            hint=f"use the virtual GPU: --device {DEFAULT_GPU}",
        )
    return gpu(name)


def size_in_bytes(text: str) -> int:
    """``512M``, ``16G``, ``1000000`` as a number. Raises ``Misuse``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise Misuse(f"{text!r} is no amount of memory", hint="write it as 512M or 16G")
    return int(found[1]) * _UNITS[found[2].upper()]


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name)
    if not text:
        return default
    if not text.isdigit():
        _no_number(name, text)
    return int(text)


def _no_number(name: str, text: str) -> NoReturn:
    raise Misuse(f"{name}={text} is no whole number", hint=f"set {name} to a number, or leave it out")
