"""Programs compiled to code for this machine's processor, called in this process."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from kernelwright.breeding.program_results import Answers
from kernelwright.breeding.surrounding_code import inputs
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.backends.backend import Image
from kernelwright.farm.backends.host import Loaded
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import DTYPES
from kernelwright.grammar.c.llvm import FAULTS


class HostCode:
    """Runs object images whose functions go through all cases (``frames.HOST_IR``)."""

    arch = ""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._inputs = [problem.cases[name] for name, _, _ in inputs(problem)]
        self._call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (2 + len(self._inputs)))

    def run(self, image: Image) -> list[Answers]:
        with Loaded(image) as code:
            return [self._run(code.address(each)) for each in range(len(image.places))]

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
