"""What a back end is: a language that programs are written in, a compiler of populations, and whatever runs its images."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from kernelwright.breeding.program_results import Answers
from kernelwright.breeding.surrounding_code import Language
from kernelwright.device.real_gpu.availability import require_gpu
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.farm.backends.backend import Backend, Level
from kernelwright.farm.bundle_runner import BundleRunner, Executor
from kernelwright.grammar import Problem
from kernelwright.lazy_dataclasses import dataclass


class ImageExecutor(Executor[Answers], Protocol):
    """Runs images of a problem's programs."""

    @property
    def arch(self) -> str:
        """The architecture that it needs images for; empty where there is only one."""


@dataclass(frozen=True)
class BackEnd:
    """A row of ``table.BACKENDS``."""

    name: str
    what: str
    """One line, for people."""
    language: Language
    compiler: Callable[..., Backend]
    """Takes ``arch`` where its executor has one."""
    executor: Callable[[Problem], ImageExecutor]
    """Raises ``Misuse`` for a problem that it cannot run, ``ToolError`` and ``DeviceError`` where it lacks something."""
    level: Level = "quick"
    needs_gpu: bool = False
    """Whether each worker needs a real one."""
    any_grammar: bool = False
    """Whether it takes all of CUDA C, not only the part that we parse."""
    auto: bool = False
    """Whether ``--backend auto`` measures it."""
    remembers: bool = False
    """Whether what it has computed makes later programs cheaper, so that it is measured anew each time."""
    optimises: str = ""
    """The back end whose code this one optimises: measured where that one's programs run long."""

    def missing(self) -> str:
        """Why it cannot be used here, with the remedy; empty when it can."""
        if missing := self.compiler().missing():
            return missing
        if not self.needs_gpu:
            return ""
        try:
            require_gpu(0)
        except KernelwrightError as error:
            return error.message
        return ""

    def runner(self, problem: Problem) -> BundleRunner[Answers]:
        """What compiles and runs programs of a problem, in this process. Raises as ``executor``,
        ``Misuse`` for a problem whose code around programs cannot be translated, ``ToolError`` without the compiler."""
        if missing := self.compiler().missing():
            raise ToolError(f"the back end {self.name} cannot be used: {missing}")
        frame = self.language.frame(problem)
        executor = self.executor(problem)
        compiler = self.compiler(arch=executor.arch) if executor.arch else self.compiler()
        return BundleRunner(compiler, frame, partial(self.language.translate, problem), executor, self.level)
