"""PTX written straight from the individuals: no front end, no passes, only the assembler. The cheapest way to a cubin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture
from kernelwright.codegen.machine.assemble import INSTALL
from kernelwright.farm.backends.assembling import assembled, assembler, header
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, Language, bundle
from kernelwright.farm.backends.outlined_operations import with_calls
from kernelwright.farm.backends.prune_ptx import needed
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Ptx:
    """Individuals are PTX statements in a scope of their own."""

    arch: str = DEFAULT_ARCHITECTURE
    language: Language = "ptx"
    batch: tuple[int, int] = (50, 150)

    def missing(self) -> str:
        return "" if assembler() else f"no assembler for PTX is installed: {INSTALL}"

    def fingerprint(self) -> str:
        found = assembler()
        return f"{architecture(self.arch).name} {found and (found.kind, found.version)}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        functions = ""
        if level == "quick":
            population, functions = with_calls(population)
        users = (frame.before, frame.after, *population)
        frame = replace(frame, head=needed(frame.head, users))
        made = bundle(frame, population, header=header(self.arch) + functions)
        return Image("cubin", assembled(made, made.text, self.arch, level), made.places, self.arch)
