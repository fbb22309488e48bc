"""A workload: one kernel, the inputs it is judged on, and how far its output may lie from the expected one.

A Python file that ends in ``workload = Workload(...)`` is a complete one: ``kw evolve workload.py`` reads it.
"""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import Misuse

Argument = NDArray[Any] | int | float | np.generic


@dataclass(frozen=True)
class Case:
    """One launch: ``arguments`` in the kernel's order, arrays for pointers. Arrays are inputs; what the kernel leaves in
    them is compared."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Argument, ...]
    shared_bytes: int = 0


@dataclass(frozen=True)
class Workload:
    """``source``: the CUDA file; ``kernel``: its name in the source; ``tolerance``: relative to the largest expected value."""

    source: Path
    kernel: str
    cases: tuple[Case, ...]
    tolerance: float = 0.0


def load_workload(path: Path) -> Workload:
    """The ``workload`` of a Python file. Raises ``Misuse`` when the file is missing, fails, or defines none."""
    if not path.is_file():
        raise Misuse(f"{path} does not exist", hint="give the path of a Python file that defines `workload`")
    try:
        found = runpy.run_path(str(path)).get("workload")
    except Exception as error:
        raise Misuse(f"{path} fails: {type(error).__name__}: {error}", hint=f"python {path} shows where") from error
    if not isinstance(found, Workload):
        raise Misuse(f"{path} defines no `workload`", hint="end it with: workload = Workload(source, kernel, cases)")
    return found
