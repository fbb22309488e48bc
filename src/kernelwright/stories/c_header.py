"""Variants of one kernel as a C header: their code for several architectures, their checks, and a function that launches the first
one whose checks hold, or the original.

smooth.h        smooth_launch(original, grid, block, ..., arguments, &counts); smooth_report(&counts, stderr)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from kernelwright import __version__
from kernelwright.architectures import ARCHITECTURES, CUBINS, architecture
from kernelwright.codegen.line_directives import without_lines
from kernelwright.codegen.machine.assemble import assemble
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import CompileError, IRError, Misuse, ToolError
from kernelwright.kernel_version import Extent
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes import isolation
from kernelwright.passes.options import DEFAULT

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
        """For people: ``machine code of sm_80, PTX from sm_80 on``."""
        newer = [f"PTX from {arch} on" for arch in self.ptx]
        return ", ".join([*([f"machine code of {', '.join(self.cubin)}"] if self.cubin else []), *newer])


@dataclass(frozen=True)
class HeaderVersion:
    """A variant in a header."""

    name: str
    label: str
    guards: tuple[tuple[str, str], ...]
    """Each as a test in C and in words."""
    images: Images
    warning: str = ""


@dataclass(frozen=True)
class HeaderKernel:
    """What a header says of its kernel."""

    name: str
    """As people call it; what its functions in C are called begins with it."""
    mangled: str
    pointers: tuple[int, ...]
    """The parameters that are pointers."""
    parameters: tuple[Extent, ...]
    versions: tuple[HeaderVersion, ...]
    """In the order in which a launch tries them."""

    @property
    def prefix(self) -> str:
        """The name as C allows it in an identifier; ``kernel`` where nothing of it is left."""
        return re.sub(r"\W+", "_", self.name).strip("_") or "kernel"


def images_of(ir: str, arch: str) -> Images:
    """``arch``: what the variant was made for. Raises ``CompileError`` and ``ToolError`` when not even that can be had."""
    try:
        return isolation.run(_images_of, ir, arch, False, options=DEFAULT, isolate=True)
    except (CompileError, ToolError):
        # One of the architectures ended the process: each in one of its own, which takes four times as long.
        return _images_of(ir, arch, True)


def _images_of(ir: str, arch: str, isolate: bool) -> Images:
    ptx = {arch: without_lines(emit_ptx(ir, arch, isolate=isolate))}
    oldest = next((each for each in CUBINS if each in ptx or _emitted(ir, each, ptx, isolate)), arch)
    cubin = {}
    for each in CUBINS:
        if architecture(each).number < architecture(oldest).number:
            continue
        try:
            source = ptx.get(each) or without_lines(emit_ptx(ir, each, isolate=isolate))
            cubin[each] = assemble(source, each, isolate=isolate).data
        except (ToolError, CompileError, IRError):
            continue
    return Images({each: ptx[each] for each in dict.fromkeys((oldest, arch)) if each[-1].isdigit()}, cubin)


def _emitted(ir: str, arch: str, ptx: dict[str, str], isolate: bool) -> bool:
    """Whether there is PTX for ``arch``: an older GPU may lack what the kernel uses."""
    try:
        ptx[arch] = without_lines(emit_ptx(ir, arch, isolate=isolate))
    except (ToolError, CompileError, IRError, Misuse):
        return False
    return True


def c_header(kernel: HeaderKernel, original: Images, stem: str) -> str:
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

    versions, checks = [], 0
    for number, each in enumerate(kernel.versions, start=1):
        versions.append({
            "name": each.name, "label": each.label, "warning": each.warning, "held": each.images.in_words, "first_check": checks,
            "guards": [(test, _text_in_c(words)) for test, words in each.guards], "listed": listed(each.images, f"variant_{number}"),
        })  # fmt: skip
        checks += len(each.guards)
    environment = Environment(
        autoescape=False, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        kernel=kernel.name, mangled=kernel.mangled, versions=versions, checks=checks, name=name, stem=stem,
        instead="the original runs" if len(versions) == 1 else "the others are tried",
        parameters="".join(f"{{{offset}, {size}}}, " for offset, size in kernel.parameters),
        pointers=", ".join(map(str, (*kernel.pointers, -1))), version=__version__,
        original_images=listed(original, "original"), images=images,
    )  # fmt: skip


def _text_in_c(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _bytes_in_c(data: bytes) -> str:
    rows = (data[at : at + _LINE] for at in range(0, len(data), _LINE))
    return ",\n".join("    " + ", ".join(map(str, row)) for row in rows)
