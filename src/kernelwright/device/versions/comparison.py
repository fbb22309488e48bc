"""Whether a version was made from the kernel that a program has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.kernel_version import Extent, Version
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from kernelwright.ir import Function, Module


@dataclass(frozen=True)
class GpuKernel:
    """A kernel of a program, as far as a real GPU's device knows it."""

    name: str
    ir: str
    """Its module; empty where nvcc made the code."""
    parameters: tuple[Extent, ...]
    variables: tuple[tuple[str, range], ...]
    """The module's device variables that the host knows too, and where they are."""
    own: tuple[Version, ...] = ()
    """Versions that the program carries."""


def difference(version: Version, parameters: tuple[Extent, ...], module: Module | None) -> str:
    """Why a version does not fit the kernel in ``module``; empty when it does. Without a module parameters alone are compared."""
    from kernelwright.ir.kernel_digest import kernel_digest

    if parameters != version.parameters:
        return "its parameters are others now"
    if module is not None and kernel_digest(module, version.kernel) != version.original:
        return "the kernel is not the one that the run began with: edited since, or compiled with other flags"
    return ""


def extents_of(kernel: Function) -> tuple[Extent, ...]:
    """Where the kernel's parameters lie."""
    from kernelwright.codegen.memory_layout import parameter_layout

    return tuple((p.offset, p.size) for p in parameter_layout(kernel).parameters)
