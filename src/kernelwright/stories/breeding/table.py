"""The back ends that breeding knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kernelwright.errors import Misuse
from kernelwright.grammar import Problem
from kernelwright.stories.breeding.executor import Executor, Interpreted
from kernelwright.stories.breeding.hosted import Hosted
from kernelwright.stories.breeding.launched import Launched
from kernelwright.stories.breeding.lowered import Lowered
from kernelwright.target import DEFAULT_GPU

BACKENDS: Mapping[str, tuple[Callable[[Problem], Executor], str]] = {
    "interpreted": (Interpreted, "nothing is compiled; cheapest where cases are few and programs have no loops"),
    "host": (Hosted, "LLVM-IR to code for this processor"),
    "optimised": (partial(Hosted, level="full"), "the same, optimised; for a million cases and more"),
    "virtual": (partial(Launched, device=DEFAULT_GPU), "CUDA C on a virtual GPU; takes any grammar"),
    "llvm": (partial(Lowered, device=DEFAULT_GPU), "LLVM-IR, as the farm takes it, on a virtual GPU"),
    "cuda": (partial(Launched, device="cuda:0"), "CUDA C on a GPU; takes any grammar"),
    "cuda-llvm": (partial(Lowered, device="cuda:0"), "LLVM-IR on a GPU"),
}

ON_A_GPU = frozenset({"cuda", "cuda-llvm"})
"""Those of which each worker needs a real one."""


def executor(backend: str, problem: Problem) -> Executor:
    """Raises ``Misuse`` for a name that nobody knows."""
    if backend not in BACKENDS:
        raise Misuse(f"there is no back end {backend!r}", hint=f"there are {', '.join(BACKENDS)}, and auto")
    return BACKENDS[backend][0](problem)
