"""The other half of a compile: host objects with our device code inside, linked to a program.

    app.cu ─ device pipeline ─► blob ┐
    app.cu ─ host pass ──────────────┴─► app.o ┐
    util.c ─ host pass ────────────────► util.o┴─ link with our CUDA runtime ─► app

The program carries its kernels as LLVM-IR and PTX; on which device they run is decided when it starts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from kernelwright.cuda import blob, kernel_table
from kernelwright.cuda.host import HostObject, compile_host
from kernelwright.cuda.link import LinkOptions, link_executable
from kernelwright.pipeline import Program, Unit


def build_executable(
    program: Program,
    others: Sequence[Path],
    output: Path,
    link: LinkOptions | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Path, str]:
    """Links ``program`` and the C and C++ files ``others`` to ``output``; returns its path and all warnings.

    ``progress`` is told what takes long. Raises ``Misuse``, ``CompileError`` (also for CUDA calls that our runtime does not
    implement, by name) and ``ToolError``; nothing half-written stays behind.
    """
    clang = program.units[0].clang
    options = program.options.source
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        objects: list[HostObject] = []
        for number, unit in enumerate(program.units):
            embedded = Path(scratch) / f"{number}.blob"
            embedded.write_bytes(device_blob(unit))
            made = Path(scratch) / f"{number}-{unit.path.stem}.o"
            objects.append(compile_host(unit.path, embedded, made, options, clang))
        for number, path in enumerate(others, start=len(objects)):
            made = Path(scratch) / f"{number}-{path.stem}.o"
            objects.append(compile_host(path, None, made, options, clang))
        link_executable(objects, output, clang, link, progress)
        return output, "".join(o.warnings for o in objects)


def device_blob(unit: Unit) -> bytes:
    """The device code of a unit, as it is embedded: optimised IR, PTX, and the tables of kernels and variables."""
    # The tables come from the IR before optimisation: the host registers every variable, also one that no kernel uses.
    kernels, variables = kernel_table.tables(unit.source.text)
    arch = unit.options.source.arch
    content = blob.Blob(
        source=str(unit.path), ir=unit.optimised, kernels=kernels, variables=variables, ptx={arch: unit.ptx}
    )
    return blob.write(content)
