"""Machine code that travels: for each architecture there is an assembler for, and PTX, which the driver of any other compiles.

FOLDER/KEY.sm_90.cubin    FOLDER/KEY.ptx
"""

from __future__ import annotations

from pathlib import Path

from kernelwright.device.real_gpu.worker import Image
from kernelwright.errors import ToolError

ARCHES = ("sm_80", "sm_90")
"""Those that machine code is made for."""
ARCH = "sm_80"
"""The PTX's."""


def write_image(folder: Path, key: str, ir: str) -> None:
    """Makes a module's code under the name ``key``, unless it is there. Raises ``CompileError`` for code that is refused."""
    from kernelwright.codegen.machine.assemble import assemble
    from kernelwright.codegen.ptx import emit_ptx

    target = folder / f"{key}.ptx"
    if target.is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for arch in ARCHES:
        try:
            cubin = assemble(emit_ptx(ir, arch, isolate=True), arch, isolate=True)
        except ToolError:
            continue  # the driver compiles the PTX
        (folder / f"{key}.{arch}.cubin").write_bytes(cubin.data)
    # Last: where it is, all is.
    target.write_text(emit_ptx(ir, ARCH, isolate=True))


def read_image(folder: Path, key: str, arch: str, source: str = "") -> Image:
    """Machine code where it was made for ``arch``, else PTX. Raises ``OSError`` where there is neither."""
    exact = folder / f"{key}.{arch}.cubin"
    return Image((exact if exact.is_file() else folder / f"{key}.ptx").read_bytes(), source)
