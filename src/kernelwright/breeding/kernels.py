"""Images of kernels, run on a GPU, virtual or real: a thread for each case, a row of blocks for each program.

Every kernel gets ``answers``, marks, and the inputs (``frames``). In CUDA C the marks say which programs to skip, so that one that
faults is left out and the others are run again. In what we have translated, programs mark what they did that they may not;
where a device stops one all the same, the others of its kernel have no answers, and are compiled anew without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwright.breeding.program_results import Answers
from kernelwright.breeding.surrounding_code import inputs
from kernelwright.device.fault import Fault
from kernelwright.evaluate.outcome import Rejected, rejected_by
from kernelwright.farm.backends.backend import Image
from kernelwright.grammar import Problem
from kernelwright.grammar.c.interpret import DTYPES
from kernelwright.grammar.c.llvm import FAULTS

THREADS = 128
"""Of a block, at most."""


class Gpu(Protocol):
    """Holds one image at a time."""

    @property
    def arch(self) -> str:
        """The architecture that images are compiled for, as ``sm_80``."""

    def load(self, image: Image) -> None:
        """Instead of the one before."""

    def launch(self, kernel: str, grid: tuple[int, int], threads: int, arrays: Sequence[NDArray[Any]]) -> Fault | None:
        """Runs a kernel that takes the arrays, and writes to those that are not read-only."""

    def close(self) -> None:
        """Releases the GPU and the image; it cannot be used afterwards."""


class Kernels:
    """``skips``: whether the kernels are told which programs to skip, as CUDA C is; else programs mark their faults."""

    def __init__(self, problem: Problem, gpu: Gpu, *, skips: bool) -> None:
        self._problem = problem
        self._gpu = gpu
        self._run_kernel = self._with_skipped if skips else self._with_marks
        self._inputs = [problem.cases[name] for name, _, _ in inputs(problem)]
        for each in self._inputs:
            each.setflags(write=False)

    @property
    def arch(self) -> str:
        """The architecture that images are compiled for, as ``sm_80``."""
        return self._gpu.arch

    def run(self, image: Image) -> list[Answers | None]:
        self._gpu.load(image)
        names = [name for name, _ in image.places]
        return [each for name in dict.fromkeys(names) for each in self._run_kernel(name, names.count(name))]

    def _with_skipped(self, kernel: str, members: int) -> list[Answers | None]:
        answers = self._answers(members)
        skipped = np.zeros(members, np.uint8)
        rejected: dict[int, Rejected] = {}
        while len(rejected) < members:
            fault = self._launch(kernel, members, answers, skipped)
            if fault is None:
                break
            slots = [fault.block[1]] if fault.block else [n for n in range(members) if not skipped[n]]
            for slot in slots:
                skipped[slot] = 1
                rejected[slot] = rejected_by(fault)
        return [rejected.get(n, answers[n]) for n in range(members)]

    def _with_marks(self, kernel: str, members: int) -> list[Answers | None]:
        answers = self._answers(members)
        marks = np.zeros((members, self._problem.count), np.int32)
        fault = self._launch(kernel, members, answers, marks)
        if fault is not None:
            culprit = fault.block[1] if fault.block else None
            return [rejected_by(fault) if culprit in (None, n) else None for n in range(members)]
        return [_marked(row) or answers[n] for n, row in enumerate(marks)]

    def _answers(self, members: int) -> NDArray[np.generic]:
        return np.zeros((members, self._problem.count), DTYPES[self._problem.answer_type])

    def _launch(
        self, kernel: str, members: int, answers: NDArray[np.generic], marks: NDArray[Any]
    ) -> Fault | None:  # fmt: skip
        threads = min(THREADS, self._problem.count)
        grid = (-(-self._problem.count // threads), members)
        return self._gpu.launch(kernel, grid, threads, (answers, marks, *self._inputs))

    def close(self) -> None:
        self._gpu.close()


def kernels_on(gpu: Callable[[], Gpu], *, skips: bool = False) -> Callable[[Problem], Kernels]:
    """For a row of the table: what runs the kernels of a problem on such a GPU."""
    return lambda problem: Kernels(problem, gpu(), skips=skips)


def _marked(marks: NDArray[np.int32]) -> Rejected | None:
    """What a program did that it may not, in the first case that it did it in."""
    faulty = np.flatnonzero(marks)
    return Rejected("fault", FAULTS[int(marks[faulty[0]])]) if faulty.size else None
