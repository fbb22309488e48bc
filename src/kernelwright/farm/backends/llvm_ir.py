"""LLVM-IR to PTX to a cubin: for individuals that have IR and no PTX of their own, and for those worth optimising.

Optimising does not pay for individuals that run once: the assembler becomes a tenth faster at best, and the passes cost as
much as the assembler. ``quick`` leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture
from kernelwright.codegen.machine.assemble import INSTALL
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import IRError
from kernelwright.farm.backends.assembling import assembled, assembler, refused
from kernelwright.farm.backends.backend import Image, Level, Refused
from kernelwright.farm.backends.bundle import Bundle, Frame, Language, bundle
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.libdevice import linked_text
from kernelwright.passes.llvm import TRIPLE, parsed, target_machine
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import DEFAULT

QUICK_CODEGEN = 1
"""LLVM's level for code that runs once: at 0 the PTX is so long that the assembler loses what code generation gained."""


@dataclass(frozen=True)
class LlvmIr:
    """Individuals are the inside of a function that returns nothing."""

    arch: str = DEFAULT_ARCHITECTURE
    language: Language = "gpu-ir"
    batch: tuple[int, int] = (50, 150)

    def missing(self) -> str:
        return "" if assembler() else f"no assembler for PTX is installed: {INSTALL}"

    def fingerprint(self) -> str:
        from kernelwright.passes.llvm import binding

        found = assembler()
        return f"{architecture(self.arch).name} {binding().llvm_version_info} {found and (found.kind, found.version)}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        made = bundle(frame, population, header=f'target triple = "{TRIPLE}"')
        try:
            ptx = _quick(made.text, self.arch) if level == "quick" else _full(made.text, self.arch)
        except IRError as error:
            raise misread(made, error) from None
        return Image("cubin", assembled(made, ptx, self.arch, level), made.places, self.arch)


def misread(made: Bundle, error: IRError) -> Refused:
    """LLVM stops at the first mistake it reads."""
    line = error.place.line if error.place else 0
    return refused(error.message, made, [(line, error.message)] if line else [])


def _quick(text: str, arch: str) -> str:
    _read(text)
    machine = target_machine(arch, QUICK_CODEGEN)
    with parsed(linked_text(text)) as module:
        module.data_layout = str(machine.target_data)
        return str(machine.emit_assembly(module))


def _full(text: str, arch: str) -> str:
    _read(text)
    return emit_ptx(optimise(text, DEFAULT, arch=arch), arch)


def _read(text: str) -> None:
    """Mistakes are told about the text as it is, before anything is linked into it."""
    with parsed(text):
        pass
