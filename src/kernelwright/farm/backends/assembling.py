"""PTX of a bundle to machine code, as fast as possible or as good as possible."""

from __future__ import annotations

import re

from kernelwright.architectures import ptx_version
from kernelwright.codegen.machine import nvjitlink
from kernelwright.codegen.machine.assemble import INSTALL, Assembler, find_assemblers, run_ptxas
from kernelwright.errors import CompileError, Place, ToolError
from kernelwright.farm.backends.backend import Level, Refused
from kernelwright.farm.backends.bundle import Bundle

OPTIONS: dict[Level, tuple[str, ...]] = {"quick": ("-O0",), "full": ()}
"""``-O1`` and ``-O2`` are refused by nvJitLink; ``-O3`` is what it does unasked."""

_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")


def assembler() -> Assembler | None:
    """The best one installed."""
    return next(iter(find_assemblers()), None)


def header(arch: str) -> str:
    """What PTX for ``arch`` begins with."""
    version = ptx_version(arch)
    return f".version {version // 10}.{version % 10}\n.target {arch}\n.address_size 64\n"


def assembled(bundle: Bundle, ptx: str, arch: str, level: Level) -> bytes:
    """The cubin of ``ptx``. Raises ``Refused`` with the individuals that the assembler complains about where the PTX is the
    bundle's own text, ``ToolError`` without an assembler."""
    found = assembler()
    if found is None:
        raise ToolError("no assembler for PTX is installed", hint=INSTALL)
    options = [f"-arch={arch}", *OPTIONS[level]]
    if found.kind == "nvJitLink":
        status, data, log = nvjitlink.assemble(found.path, ptx.encode(), options)
    else:
        status, data, log = run_ptxas(found.path, ptx, options)
    if not status:
        return data
    errors = [(int(line), message.strip()) for line, message in _ERROR.findall(log)]
    first = errors[0][1] if errors else (log.strip().splitlines() or ["no reason"])[0]
    raise refused(f"{found.kind} refuses this PTX: {first}", bundle, errors if ptx == bundle.text else [])


def refused(message: str, bundle: Bundle, errors: list[tuple[int, str]]) -> Refused:
    """The individuals that own the lines of the errors, in the order of these, each with its first one and the line that it is
    about. None when the first error is in the frame."""
    lines = bundle.text.splitlines()
    found: dict[int, CompileError] = {}
    for line, reason in errors:
        owner = bundle.owner(line)
        if owner is None and not found:
            break
        if owner is not None and owner not in found:
            within = line - bundle.starts[owner] + 1
            found[owner] = CompileError(reason, place=Place("<individual>", within, 0, lines[line - 1]))
    return Refused(message, found)
