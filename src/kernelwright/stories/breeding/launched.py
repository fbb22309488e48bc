"""Programs as CUDA C, compiled by our own compiler and launched on a GPU, virtual or real: for any grammar that derives CUDA C."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernelwright.cuda.frontend import SourceOptions
from kernelwright.device.api import Device
from kernelwright.errors import CompileError, Place
from kernelwright.evaluate.outcome import Rejected, rejected_by
from kernelwright.farm.backends.frame import Bundle, bundle
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import DTYPES
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions, Program, compile
from kernelwright.stories.breeding.executor import Answers, not_compiled
from kernelwright.stories.breeding.frames import cuda, cuda_frame, inputs

THREADS = 128
"""Of a block, at most."""
# As the other back ends: no multiply and add in one operation, whole numbers wrap around.
OPTIONS = CompileOptions(source=SourceOptions(fuse=False, extra=("-fwrapv", "-w")), passes=PassOptions(1))


class Launched:
    """``device``: as ``Device`` takes it. Raises what that raises, and ``CompileError`` when the code around programs is wrong."""

    def __init__(self, problem: Problem, device: str) -> None:
        self._problem = problem
        self._frame = cuda_frame(problem)
        self._inputs = [problem.cases[name] for name, _, _ in inputs(problem)]
        for each in self._inputs:
            each.setflags(write=False)
        self._name = device
        self._device = Device(device, timing=False)

    def answers(self, texts: Sequence[str]) -> list[Answers]:
        """Those that do not compile are found one after the other: a compiler names the line."""
        found: dict[int, Answers] = {}
        parts = [list(range(len(texts)))]
        while parts:
            part = parts.pop()
            made = bundle(self._frame, [cuda(self._problem, texts[i]) for i in part])
            try:
                program = _compiled(made.text)
            except CompileError as error:
                owner = made.owner(error.place.line) if error.place else None
                if owner is None and len(part) == 1:
                    owner = 0
                if owner is None:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
                    continue
                found[part[owner]] = not_compiled(error)
                if len(part) > 1:
                    parts.append(part[:owner] + part[owner + 1 :])
                continue
            for index, answer in zip(part, self._launch(program, made), strict=True):
                found[index] = answer
        return [found[index] for index in range(len(texts))]

    def _launch(self, program: Program, made: Bundle) -> list[Answers]:
        found: list[Answers] = []
        for kernel in dict.fromkeys(name for name, _ in made.places):
            found += self._kernel(program, kernel, sum(name == kernel for name, _ in made.places))
        # The next population is another program; what this one occupied on the device goes with the device.
        self._device.close()
        self._device = Device(self._name, timing=False)
        return found

    def _kernel(self, program: Program, kernel: str, members: int) -> list[Answers]:
        """A program that faults is left out, and the others are run again."""
        problem = self._problem
        answers: NDArray[np.generic] = np.zeros((members, problem.count), DTYPES[problem.answer_type])
        skipped = np.zeros(members, np.uint8)
        rejected: dict[int, Rejected] = {}
        threads = min(THREADS, problem.count)
        grid = (-(-problem.count // threads), members)
        while len(rejected) < members:
            done = self._device.launch(program.kernel(kernel), grid, threads, (answers, skipped, *self._inputs))
            if done.fault is None:
                break
            slots = [done.fault.block[1]] if done.fault.block else [n for n in range(members) if not skipped[n]]
            for slot in slots:
                skipped[slot] = 1
                rejected[slot] = rejected_by(done.fault)
        return [rejected.get(n, answers[n]) for n in range(members)]

    def close(self) -> None:
        self._device.close()


def _compiled(text: str) -> Program:
    """Raises ``CompileError``; its place counts the lines of the text."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        path = Path(folder, "population.cu")
        path.write_text(text)
        try:
            program = compile(path, options=OPTIONS, cache=False)
            _ = [unit.optimised for unit in program.units]
        except CompileError as error:
            place = error.place
            if place is not None and place.line:
                raise CompileError(
                    error.message, place=Place("population.cu", place.line, place.column, place.text)
                ) from None
            raise
        return program
