"""LLVM-IR through our optimiser and no further: for what runs it as IR, such as the virtual GPU.

No front end takes part, so that an individual is ready in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.errors import IRError
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, Language, bundle
from kernelwright.farm.backends.llvm_ir import misread
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.llvm import TRIPLE, binding
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import DEFAULT, PassOptions

PASSES: dict[Level, PassOptions] = {"quick": PassOptions(1), "full": DEFAULT}


@dataclass(frozen=True)
class OptimisedIr:
    """Individuals are the inside of a function that returns nothing."""

    arch: str = DEFAULT_ARCHITECTURE
    language: Language = "gpu-ir"
    batch: tuple[int, int] = (20, 100)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return f"{self.arch} {binding().llvm_version_info}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        made = bundle(frame, population, header=f'target triple = "{TRIPLE}"')
        try:
            text = optimise(made.text, PASSES[level], arch=self.arch)
        except IRError as error:
            raise misread(made, error) from None
        return Image("ir", text.encode(), made.places, self.arch)
