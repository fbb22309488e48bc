"""Ways to run programs: each takes the texts of many and gives the answers of each, or why there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import OPERATIONS, interpret
from kernelwright.grammar.c.parse import parse

Answers = NDArray[Any] | Rejected

DEEP = 20_000
"""Levels of calls: programs are read and interpreted by recursion, and a long sum is a deep tree."""


def deep() -> None:
    """Lets this process call as deeply as programs need."""
    sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))


class Executor(Protocol):
    """Holds a problem. Close it at the end."""

    def answers(self, texts: Sequence[str]) -> list[Answers]:
        """One answer for each case, or the reason why there are none, in the order of the texts."""

    def close(self) -> None: ...


class Interpreted:
    """Nothing is compiled. Raises ``Misuse`` for a problem whose code around programs is beyond our part of C."""

    def __init__(self, problem: Problem, operations: Mapping[str, Callable[..., NDArray[Any]]] = OPERATIONS) -> None:
        if problem.head is None:
            raise Misuse(
                "the code before programs is more than can be interpreted", hint="--backend virtual takes all of CUDA C"
            )
        self._problem = problem
        self._operations = operations
        statements, self._scope = problem.head
        numbers = {name: given for name, given in problem.cases.items() if given.ndim == 1}
        self._arrays = {name: given for name, given in problem.cases.items() if given.ndim == 2}
        self._before = interpret(statements, numbers, self._arrays, problem.count)

    def answers(self, texts: Sequence[str]) -> list[Answers]:
        return [self._answer(text) for text in texts]

    def _answer(self, text: str) -> Answers:
        problem = self._problem
        try:
            statements, _ = parse(problem.code(text), self._scope)
            after = interpret(statements, self._before, self._arrays, problem.count, operations=self._operations)
        except CompileError as error:
            return not_compiled(error)
        except DeviceError as error:
            return Rejected("fault", error.message)
        return np.broadcast_to(after[problem.answer_name], (problem.count,))

    def close(self) -> None:
        pass


def not_compiled(error: CompileError) -> Rejected:
    """The rejection of a program that a compiler has refused."""
    place = error.place
    where = f"column {place.column} of {place.text.strip()[:80]!r}" if place and place.text and place.column else ""
    return Rejected("compile", error.message, where)
