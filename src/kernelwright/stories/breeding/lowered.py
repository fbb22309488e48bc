"""Programs as LLVM-IR for a GPU, the text that the farm's ``llvm`` back end takes, launched on one, virtual or real.

No front end takes part, so that a program is ready in a few milliseconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.device.api import Device
from kernelwright.errors import CompileError
from kernelwright.evaluate.outcome import Rejected, rejected_by
from kernelwright.farm.backends.frame import Bundle, bundle
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import DTYPES
from kernelwright.grammar.c.llvm import FAULTS
from kernelwright.passes.llvm import TRIPLE
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import Program, load
from kernelwright.stories.breeding.executor import Answers, not_compiled
from kernelwright.stories.breeding.frames import gpu_ir, gpu_ir_frame, inputs
from kernelwright.stories.breeding.launched import THREADS

PASSES = PassOptions(1)


class Lowered:
    """``device``: as ``Device`` takes it. Raises what that raises, ``Misuse`` for a problem whose code around programs is beyond
    our part of C."""

    def __init__(self, problem: Problem, device: str) -> None:
        self._problem = problem
        self._frame = gpu_ir_frame(problem)
        self._inputs = [problem.cases[name] for name, _, _ in inputs(problem)]
        for each in self._inputs:
            each.setflags(write=False)
        self._name = device
        Device(device, timing=False).close()

    def answers(self, texts: Sequence[str]) -> list[Answers]:
        found: dict[int, Answers] = {}
        bodies: dict[int, str] = {}
        for index, text in enumerate(texts):
            try:
                bodies[index] = gpu_ir(self._problem, text)
            except CompileError as error:
                found[index] = not_compiled(error)
        part = list(bodies)
        while part:
            made = bundle(self._frame, [bodies[i] for i in part], header=f'target triple = "{TRIPLE}"')
            for index, answer in zip(part, self._launch(_program(made.text), made), strict=True):
                if answer is not None:
                    found[index] = answer
            part = [index for index in part if index not in found]
        return [found[index] for index in range(len(texts))]

    def _launch(self, program: Program, made: Bundle) -> list[Answers | None]:
        """None for those of a kernel that another program of it has stopped."""
        found: list[Answers | None] = []
        with Device(self._name, timing=False) as device:
            for kernel in dict.fromkeys(name for name, _ in made.places):
                found += self._kernel(device, program, kernel, sum(name == kernel for name, _ in made.places))
        return found

    def _kernel(self, device: Device, program: Program, kernel: str, members: int) -> list[Answers | None]:
        problem = self._problem
        answers: NDArray[np.generic] = np.zeros((members, problem.count), DTYPES[problem.answer_type])
        marks = np.zeros((members, problem.count), np.int32)
        threads = min(THREADS, problem.count)
        grid = (-(-problem.count // threads), members)
        done = device.launch(program.kernel(kernel), grid, threads, (answers, marks, *self._inputs))
        if done.fault is not None:
            rejected = rejected_by(done.fault)
            culprit = done.fault.block[1] if done.fault.block else None
            return [rejected if culprit in (None, n) else None for n in range(members)]
        return [_marked(row) or answers[n] for n, row in enumerate(marks)]

    def close(self) -> None:
        pass


def _marked(marks: NDArray[np.int32]) -> Rejected | None:
    """What a program did that it may not, in the first case that it did it in."""
    faulty = np.flatnonzero(marks)
    return Rejected("fault", FAULTS[int(marks[faulty[0]])]) if faulty.size else None


def _program(text: str) -> Program:
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        path = Path(folder, "population.ll")
        path.write_text(optimise(text, PASSES, arch=DEFAULT_ARCHITECTURE))
        return load(path)
