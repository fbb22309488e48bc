"""Programs interpreted, all cases at once in NumPy: the definition of what programs mean. Nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.breeding.program_results import Answers, not_compiled
from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.backends.backend import Image
from kernelwright.farm.backends.tree import texts
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import OPERATIONS, interpret
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.parts import Parts


class Interpreter:
    """Raises ``Misuse`` for a problem whose code around programs is beyond our part of C."""

    arch = ""

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
        # Who puts other operations in the place of ours wants every one of them done.
        self._parts = (
            Parts(self._scope, self._before, problem.count, problem.answer_name) if operations is OPERATIONS else None
        )

    def run(self, image: Image) -> list[Answers]:
        return [self._answer(text) for text in texts(image)]

    def _answer(self, text: str) -> Answers:
        problem = self._problem
        code = problem.code(text)
        found = self._parts.answer(code) if self._parts is not None else None
        if found is not None:
            if not found.ndim:
                return np.broadcast_to(found, (problem.count,))
            answers = found.view()
            answers.setflags(write=False)  # others get it after this fitness function
            return answers
        try:
            statements, _ = parse(code, self._scope)
            after = interpret(statements, self._before, self._arrays, problem.count, operations=self._operations)
        except CompileError as error:
            return not_compiled(error)
        except DeviceError as error:
            return Rejected("fault", error.message)
        return np.broadcast_to(after[problem.answer_name], (problem.count,))

    def close(self) -> None:
        pass
