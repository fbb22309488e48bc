"""The suite's programs beside the published ones (Rodinia 3.1; paper 000, Table 1): kernels, shared arrays, barriers, atomics.

Counted in the published sources: figures alone, none of their lines. Where ours differs, the reason says what a gain in it may depend on.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kernelwright.cuda.frontend import SourceOptions
from kernelwright.edits.barriers import is_barrier
from kernelwright.ir import Module
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load


@dataclass(frozen=True)
class Mix:
    """``barriers``, ``atomics``: whether a kernel has any."""

    kernels: int
    shared_arrays: int
    barriers: bool
    atomics: bool


PUBLISHED = {
    "bfs": Mix(2, 0, False, False),
    "btree": Mix(2, 0, True, False),
    "euler3d": Mix(4, 0, False, False),
    "gaussian": Mix(2, 0, False, False),
    "heartwall": Mix(1, 8, True, False),
    "hotspot": Mix(1, 3, True, False),
    "lud": Mix(3, 6, True, False),
    "nn": Mix(1, 0, False, False),
    "nw": Mix(2, 4, True, False),
    "particlefilter": Mix(4, 3, True, False),
    "pathfinder": Mix(1, 2, True, False),
    "srad": Mix(2, 11, True, False),
    "streamcluster": Mix(1, 0, False, False),
}
DIFFERENT = {
    "btree": (Mix(2, 5, True, False), "the node a query has come to is kept in shared words, not in global memory"),
    "heartwall": (Mix(2, 7, True, False), "the templates are updated by a kernel of their own; a window is summed in other arrays"),
    "nw": (Mix(2, 2, True, False), "both kernels share one tile function and its two arrays"),
    "particlefilter": (Mix(7, 6, True, False), "sums and resampling are parallel where the published ones run in one thread"),
    "srad": (Mix(3, 4, True, False), "the statistics of the region are summed on the device; a tile holds its halo instead of five arrays"),
}  # fmt: skip
"""By program: what ours has, and why."""


def counted(modules: list[Module]) -> Mix:
    kernels = [kernel for module in modules for kernel in module.kernels]
    instructions = [i for kernel in kernels for i in kernel.instructions()]
    arrays = sum(v.address_space == 3 for module in modules for v in module.globals.values())
    atomics = any(i.opcode in ("atomicrmw", "cmpxchg") for i in instructions)
    return Mix(len(kernels), arrays, any(map(is_barrier, instructions)), atomics)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_program_has_what_the_published_one_has_or_says_why_not(name: str) -> None:
    program = load(name)
    options = CompileOptions(
        source=SourceOptions(define=tuple(flag[2:] for flag in program.flags if flag.startswith("-D")))
    )
    sources = [path for path in program.source_paths if path.suffix == ".cu"]
    found = counted([unit.module for unit in compile_program(sources, options=options).units])
    expected, reason = DIFFERENT.get(name, (PUBLISHED[name], ""))
    assert found == expected, reason
    assert not reason or expected != PUBLISHED[name], f"{name} is as published: its reason can go"


def test_no_program_has_atomics_that_the_published_one_has_not() -> None:
    """An atomic that the published program does not make is the dearest thing that an edit may gain from, or that hides what one gains."""
    assert [name for name, (ours, _) in DIFFERENT.items() if ours.atomics != PUBLISHED[name].atomics] == []
