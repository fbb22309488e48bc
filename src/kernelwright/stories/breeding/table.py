"""The back ends that breeding knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelwright.errors import Misuse
from kernelwright.grammar import Problem
from kernelwright.stories.breeding.executor import Executor, Interpreted

BACKENDS: Mapping[str, tuple[Callable[[Problem], Executor], str]] = {
    "interpreted": (Interpreted, "nothing is compiled; cheapest where cases are few and programs have no loops"),
}


def executor(backend: str, problem: Problem) -> Executor:
    """Raises ``Misuse`` for a name that nobody knows."""
    if backend not in BACKENDS:
        raise Misuse(f"there is no back end {backend!r}", hint=f"there are {', '.join(BACKENDS)}, and auto")
    return BACKENDS[backend][0](problem)


def chosen_backend(problem: Problem, wanted: str, population: int, jobs: int | None) -> str:
    """The back end to take: the one wanted, or with ``auto`` the quickest. Raises ``Misuse`` for a name nobody knows."""
    if wanted != "auto":
        executor(wanted, problem).close()
        return wanted
    return "interpreted"
