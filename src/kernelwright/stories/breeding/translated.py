"""A back end that takes programs as their grammar derives them, and translates them where it compiles them: in the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from kernelwright.errors import CompileError
from kernelwright.farm.backends.backend import Image, Level, Refused
from kernelwright.farm.backends.frame import Frame, Language
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.grammar import Problem, load_problem
from kernelwright.stories.breeding.frames import ptx


@dataclass(frozen=True)
class Translated:
    """``problem``: its file. The frame is ``ptx_frame`` of it."""

    problem: str
    backend: Ptx = field(default_factory=Ptx)
    name: str = "ptx"
    language: Language = "ptx"

    @property
    def batch(self) -> tuple[int, int]:
        return self.backend.batch

    def missing(self) -> str:
        return self.backend.missing()

    def fingerprint(self) -> str:
        return self.backend.fingerprint()

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        problem = _problem(self.problem)
        bodies, wrong = [], {}
        for number, text in enumerate(population):
            try:
                bodies.append(ptx(problem, text))
            except CompileError as error:
                wrong[number] = error
        if wrong:
            raise Refused("some programs are not in the part of C that is translated", wrong)
        return self.backend.compile(bodies, frame, level)


@lru_cache(maxsize=4)
def _problem(path: str) -> Problem:
    return load_problem(Path(path))
