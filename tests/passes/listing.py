"""PTX and IR cut down to what a person compares: instructions and block labels, without comments, lines and declarations."""

from __future__ import annotations

import re
from pathlib import Path

from kernelwright.codegen.ptx import _lowered, _rounds
from kernelwright.passes import isolation
from kernelwright.passes.options import DEFAULT, PassOptions

DATA = Path(__file__).parent / "data"

_METADATA = re.compile(r", ![\w.]+ ![\w.]+")


def example(name: str) -> str:
    """The IR of an example in ``data``, as the front end left it."""
    return (DATA / f"{name}.ll").read_text()


def lowered_ir(ir_text: str, options: PassOptions = DEFAULT) -> str:
    """The IR after code generation's own IR steps (memory spaces, straight-line code), before CodeGenPrepare: where the
    effect of the paper's section 3.4 can be read."""
    for each in _rounds(options):
        ir_text = isolation.run(_lowered, ir_text, "sm_80", each, options=each, isolate=True)
    return ir_text


def instructions(ptx: str) -> list[str]:
    """Instructions only, one space between opcode and operands."""
    return [line for line in listing(ptx).splitlines() if line.startswith("  ")]


def listing(ptx: str) -> str:
    """Function bodies: labels of basic blocks and, indented, instructions."""
    kept: list[str] = []
    for line in ptx.splitlines():
        code = line.partition("//")[0].rstrip()
        name = re.match(r"\.visible \.(?:entry|func).*?([\w$]+)\(", code)
        if name:
            kept.append(f"{name[1]}:")
        elif re.match(r"\$L__BB\w+:", code):
            kept.append(f" {code}")
        elif code.startswith("\t") and not code.strip().startswith((".", "{", "}", "$")) and code.endswith(";"):
            kept.append("  " + " ".join(code.split()))
    return "\n".join(kept) + "\n"


def ir_bodies(ir: str) -> str:
    """Function bodies of an IR module, without metadata."""
    bodies = re.findall(r"^define .*?^}", ir, re.MULTILINE | re.DOTALL)
    return "\n".join(_METADATA.sub("", body) for body in bodies) + "\n"
