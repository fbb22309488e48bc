"""Kernels as a GPU loads them: what a worker that has judged a candidate hands on to the process that times it on a real GPU.

LLVM and the assembler see a candidate's code in the worker alone, which may die of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelwright.cache import content_key
from kernelwright.codegen.machine.assemble import assemble
from kernelwright.device.real_gpu.worker import Image
from kernelwright.errors import ToolError
from kernelwright.evaluate.judging.variant import Built, Variant
from kernelwright.guards import Guard
from kernelwright.lazy_dataclasses import dataclass

_NO_CODE = re.compile(r"^\s*(\.loc\b.*|\.file\b.*|\$L__tmp\d+:|//.*)?$\n?|[ \t]*//.*$", re.MULTILINE)
"""Lines of PTX that only debuggers read, empty lines, comments."""
_DEBUG = re.compile(r"^\s*\.section\s+\.debug", re.MULTILINE)


@dataclass(frozen=True)
class MachineCode:
    """One kernel. ``key`` is equal for kernels that a GPU cannot tell apart: the same PTX, used for the same launches."""

    kernel: str
    key: str
    image: Image
    guards: tuple[Guard, ...] = ()
    """What must hold at a launch for it to be used; else the original is."""


Code = Mapping[str, MachineCode]
"""By kernel."""


def machine_code(variant: Variant, arch: str, known: Code | None = None) -> dict[str, MachineCode]:
    """Every kernel of a variant for ``arch``, but for those that are as in ``known``. PTX, which the driver compiles, where no
    assembler is installed or knows ``arch``.

    Raises ``CompileError`` for code that the assembler refuses.
    """
    made = {}
    for name, built in variant.kernels.items():
        key = _key(built, arch)
        if known is None or known[name].key != key:
            made[name] = MachineCode(name, key, _image(built, arch), built.guards)
    return made


def _key(built: Built, arch: str) -> str:
    return content_key([canonical_ptx(built.ptx(arch)), *map(str, built.guards)])


def _image(built: Built, arch: str) -> Image:
    ptx = built.ptx(arch)
    try:
        return Image(assemble(ptx, arch).data)
    except ToolError:
        return Image(ptx.encode())


def canonical_ptx(ptx: str) -> str:
    """PTX without what only debuggers and people read: comments, lines of source, debug sections."""
    debug = _DEBUG.search(ptx)
    return _NO_CODE.sub("", ptx[: debug.start()] if debug else ptx)
