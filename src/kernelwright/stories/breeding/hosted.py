"""Programs as code for this machine's processor, compiled many at a time."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import CompileError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.backends.backend import Level
from kernelwright.farm.backends.host import Host, Loaded
from kernelwright.farm.building import Built, build
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import DTYPES
from kernelwright.grammar.c.llvm import FAULTS
from kernelwright.stories.breeding.executor import Answers, not_compiled
from kernelwright.stories.breeding.frames import host_frame, host_ir, inputs


class Hosted:
    """``level``: ``full`` pays for programs that run on very many cases. Raises ``Misuse`` for a problem whose code around
    programs is beyond our part of C."""

    def __init__(self, problem: Problem, level: Level = "quick") -> None:
        self._problem = problem
        self._level: Level = level
        self._frame = host_frame(problem)
        self._inputs = [problem.cases[name] for name, _, _ in inputs(problem)]
        self._call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (2 + len(self._inputs)))

    def answers(self, texts: Sequence[str]) -> list[Answers]:
        found: dict[int, Answers] = {}
        bodies: dict[int, str] = {}
        for index, text in enumerate(texts):
            try:
                bodies[index] = host_ir(self._problem, text)
            except CompileError as error:
                found[index] = not_compiled(error)
        built = build(Host(), self._frame, list(bodies.values()), self._level) if bodies else []
        for index, each in zip(bodies, built, strict=True):
            if not isinstance(each, Built):
                found[index] = Rejected("compile", each.reason)
        running = [(index, each) for index, each in zip(bodies, built, strict=True) if isinstance(each, Built)]
        for image in {id(each.image): each.image for _, each in running}.values():
            with Loaded(image) as code:
                for index, each in running:
                    if each.image is image:
                        found[index] = self._run(code.address(each.individual))
        return [found[index] for index in range(len(texts))]

    def _run(self, address: int) -> Answers:
        problem = self._problem
        answers: NDArray[np.generic] = np.zeros(problem.count, DTYPES[problem.answer_type])
        faults = np.zeros(problem.count, np.int32)
        self._call(address)(answers.ctypes.data, faults.ctypes.data, *(each.ctypes.data for each in self._inputs))
        if faults.any():
            return Rejected("fault", FAULTS[int(faults[np.flatnonzero(faults)[0]])])
        return answers

    def close(self) -> None:
        pass
