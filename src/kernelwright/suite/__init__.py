"""Ready workloads: thirteen CUDA programs of our own, each with input generators and a NumPy oracle.

The programs are written from the published algorithms, at the sizes and block shapes paper 000 (Table 1) used.
Importing this package is cheap: a program's module, and NumPy with it, is loaded when it is asked for.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator

from kernelwright.errors import Misuse
from kernelwright.suite.program import SIZES, Size, SuiteProgram, Tolerance, run_and_verify, verify

NAMES: tuple[str, ...] = (
    "bfs",
    "btree",
    "euler3d",
    "gaussian",
    "heartwall",
    "hotspot",
    "lud",
    "nn",
    "nw",
    "particlefilter",
    "pathfinder",
    "srad",
    "streamcluster",
)
"""The thirteen programs of paper 000's Table 1."""

APPLICATIONS: tuple[str, ...] = ("sgd", "svm")
"""Programs whose error is an application's own (paper 000, section 4.3). Their data need the extra ``[data]``."""


def load(name: str) -> SuiteProgram:
    """The program called ``name``. Raises :class:`Misuse`, with the nearest names, when there is none."""
    known = (*NAMES, *APPLICATIONS)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or known
        raise Misuse(f"no suite program {name!r}", hint=f"use one of {', '.join(near)}")
    program = importlib.import_module(f"kernelwright.suite.{name}.workload").PROGRAM
    assert isinstance(program, SuiteProgram)
    return program


def programs() -> Iterator[SuiteProgram]:
    """All programs, in the order of :data:`NAMES`."""
    return (load(name) for name in NAMES)


__all__ = [
    "APPLICATIONS",
    "NAMES",
    "SIZES",
    "Size",
    "SuiteProgram",
    "Tolerance",
    "load",
    "programs",
    "run_and_verify",
    "verify",
]
