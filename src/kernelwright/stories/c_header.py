"""A variant of one kernel as a C header: its code for several architectures, its checks, and a function that launches it or the original.

smooth.h        smooth_launch(original, grid, block, ..., arguments, &counts); smooth_report(&counts, stderr)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from kernelwright import __version__
from kernelwright.architectures import ARCHITECTURES, CUBINS, architecture
from kernelwright.codegen.machine.assemble import assemble
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import CompileError, IRError, Misuse, ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import without_lines

TEMPLATE = Path(__file__).parent / "exported" / "dispatch.h.jinja"
_LINE = 20
"""Bytes of an image on a line."""


@dataclass(frozen=True)
class Images:
    """Code of a kernel by architecture. Machine code is there as far as an assembler is."""

    ptx: Mapping[str, str]
    cubin: Mapping[str, bytes]

    @property
    def in_words(self) -> str:
        newer = [f"PTX from {arch} on" for arch in self.ptx]
        return ", ".join([*([f"machine code of {', '.join(self.cubin)}"] if self.cubin else []), *newer])


@dataclass(frozen=True)
class HeaderKernel:
    """What a header says of its kernel."""

    name: str
    """As people call it; what its functions in C are called begins with it."""
    mangled: str
    variant: str
    label: str
    pointers: tuple[int, ...]
    """The parameters that are pointers."""
    guards: tuple[tuple[str, str], ...]
    """Each as a test in C and in words."""
    warning: str = ""

    @property
    def prefix(self) -> str:
        return re.sub(r"\W+", "_", self.name).strip("_") or "kernel"


def images_of(ir: str, arch: str) -> Images:
    """``arch``: what the variant was made for. Raises ``CompileError`` and ``ToolError`` when not even that can be had."""
    ptx = {arch: without_lines(emit_ptx(ir, arch, isolate=True))}
    oldest = next((each for each in CUBINS if each in ptx or _emitted(ir, each, ptx)), arch)
    cubin = {}
    for each in CUBINS:
        if architecture(each).number < architecture(oldest).number:
            continue
        try:
            source = ptx.get(each) or without_lines(emit_ptx(ir, each, isolate=True))
            cubin[each] = assemble(source, each, isolate=True).data
        except (ToolError, CompileError, IRError):
            continue
    return Images({each: ptx[each] for each in dict.fromkeys((oldest, arch)) if each[-1].isdigit()}, cubin)


def _emitted(ir: str, arch: str, ptx: dict[str, str]) -> bool:
    """Whether there is PTX for ``arch``: an older GPU may lack what the kernel uses."""
    try:
        ptx[arch] = without_lines(emit_ptx(ir, arch, isolate=True))
    except (ToolError, CompileError, IRError, Misuse):
        return False
    return True


def c_header(kernel: HeaderKernel, variant: Images, original: Images, stem: str) -> str:
    """The text of the header."""
    name = kernel.prefix
    images: list[dict[str, str]] = []

    def listed(of: Images, what: str) -> str:
        entries = []
        both = [(a, t.encode() + b"\0", 0) for a, t in of.ptx.items()] + [(a, d, 1) for a, d in of.cubin.items()]
        for arch, data, is_cubin in both:
            array = f"{name}_{what}_{arch}_{'cubin' if is_cubin else 'ptx'}"
            images.append({"name": array, "bytes": _bytes_in_c(data)})
            entries.append(f"{{{ARCHITECTURES[arch].number}, {is_cubin}, {array}}}, ")
        return "".join(entries)

    environment = Environment(
        autoescape=False, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        kernel=kernel.name, mangled=kernel.mangled, variant=kernel.variant, label=kernel.label, warning=kernel.warning,
        guards=[(test, _text_in_c(words)) for test, words in kernel.guards], name=name, stem=stem, held=variant.in_words,
        pointers=", ".join(map(str, (*kernel.pointers, -1))), version=__version__,
        variant_images=listed(variant, "variant"), original_images=listed(original, "original"), images=images,
    )  # fmt: skip


def _text_in_c(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _bytes_in_c(data: bytes) -> str:
    rows = (data[at : at + _LINE] for at in range(0, len(data), _LINE))
    return ",\n".join("    " + ", ".join(map(str, row)) for row in rows)
