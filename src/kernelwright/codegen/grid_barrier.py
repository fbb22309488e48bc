"""The barrier of a whole grid: a function of ``cooperative_groups.h`` by its name. A GPU runs its body; here it is one operation."""

from __future__ import annotations

from kernelwright.ir.module import Function

NAME = "__kernelwright_grid_barrier"


def is_grid_barrier(function: Function) -> bool:
    """Linking gives it a number where several files have it."""
    return function.name.partition(".")[0] == NAME
