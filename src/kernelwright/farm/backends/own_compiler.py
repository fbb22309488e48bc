"""CUDA C through our own compiler: to optimised IR, which the virtual GPU runs, or on to a cubin. For any grammar that derives CUDA C."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kernelwright.architectures import DEFAULT_ARCHITECTURE, architecture
from kernelwright.codegen.machine.assemble import INSTALL
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.errors import CompileError, Place
from kernelwright.farm.backends.assembling import assembler
from kernelwright.farm.backends.backend import Image, Level, Refused
from kernelwright.farm.backends.bundle import Bundle, Frame, Language, bundle
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions, Unit, compile

PASSES: dict[Level, PassOptions] = {"quick": PassOptions(1), "full": PassOptions()}


@dataclass(frozen=True)
class OwnCompiler:
    """Individuals are CUDA C statements. ``makes``: ``ir`` or ``cubin``."""

    arch: str = DEFAULT_ARCHITECTURE
    makes: Literal["ir", "cubin"] = "ir"
    language: Language = "cuda"
    batch: tuple[int, int] = (20, 100)

    def missing(self) -> str:
        return "" if self.makes == "ir" or assembler() else f"no assembler for PTX is installed: {INSTALL}"

    def fingerprint(self) -> str:
        found = assembler() if self.makes == "cubin" else None
        return f"{architecture(self.arch).name} {found and (found.kind, found.version)}"

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        made = bundle(frame, population)
        # As the other back ends: no multiply and add in one operation, whole numbers wrap around.
        source = SourceOptions(arch=self.arch, fuse=False, extra=("-fwrapv", "-w"))
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            path = Path(folder, "population.cu")
            path.write_text(made.text)
            try:
                (unit,) = compile(path, options=CompileOptions(source, PASSES[level]), cache=False).units
                data = self._made(unit)
            except CompileError as error:
                raise _blamed(error, made) from None
        return Image(self.makes, data, made.places, self.arch)

    def _made(self, unit: Unit) -> bytes:
        return unit.cubin if self.makes == "cubin" else unit.optimised.encode()


def _blamed(error: CompileError, made: Bundle) -> Refused:
    """A compiler stops at the first mistake, and names its line. An individual alone is to blame for all."""
    place = error.place
    owner = made.owner(place.line) if place else None
    if owner is None and len(made.places) == 1:
        owner = 0
    if owner is not None and place is not None and place.line:
        place = Place("<individual>", place.line - made.starts[owner] + 1, place.column, place.text)
    return Refused(error.message, {} if owner is None else {owner: CompileError(error.message, place=place)})
