"""Source lines behind instructions, from the debug locations that the front end leaves (``-gline-tables-only``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelwright.codegen.ptx_text import Position
from kernelwright.errors import Misuse
from kernelwright.ir.module import Function, Instruction, Module
from kernelwright.ir.text.tokens import unquote
from kernelwright.lazy_dataclasses import dataclass

OWN_HEADERS = str(Path(__file__).resolve().parents[1] / "cuda" / "include")
"""Locations in there are our wrappers around built-in functions; the line that called them is the user's."""

_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|![0-9]+|[^\s,()]+)')


@dataclass(frozen=True)
class SourceLine:
    """One line of source and how many instructions it became."""

    file: str
    line: int
    instructions: int


def kernel_lines(module: Module, kernel: str) -> list[SourceLine]:
    """The source lines behind a kernel, by file and line, with the number of IR instructions each became.

    Inlined functions count where they were written, wrappers of ours where they were called. Instructions without a line
    (phis, merged code) are left out. Raises ``Misuse`` with the functions there are.
    """
    return _counted(position for _, position in instruction_positions(module, kernel))


def instruction_positions(module: Module, kernel: str) -> Iterator[tuple[Instruction, Position | None]]:
    """Each IR instruction of a kernel with the line it was written on, where that is known."""
    function = _function(module, kernel)
    known: dict[str, Position | None] = {}
    for instruction in function.instructions():
        node = instruction.metadata.get("dbg", "")
        if node not in known:
            known[node] = user_position(debug_chain(module, node)) if node else None
        yield instruction, known[node]


def user_position(chain: Iterable[Position]) -> Position | None:
    """The innermost position outside our own headers, from a chain that ends with the outermost call."""
    return next((p for p in chain if not p.file.startswith(OWN_HEADERS)), None)


def debug_chain(module: Module, node: str) -> tuple[Position, ...]:
    """The positions behind a ``!dbg`` node: where it was written, then each call it was inlined through."""
    chain: list[Position] = []
    while node:
        location = _fields(module.metadata.get(node, ""))
        line = int(location.get("line", 0))
        if line:
            file = _file(module, location.get("scope", ""))
            chain.append(Position(file, line, int(location.get("column", 0))))
        node = location.get("inlinedAt", "")
    return tuple(chain)


def _file(module: Module, scope: str) -> str:
    """The path of the file that a scope lies in; scopes without a file of their own ask their parent."""
    while scope:
        fields = _fields(module.metadata.get(scope, ""))
        if "filename" in fields:
            name, folder = unquote(fields["filename"]), unquote(fields.get("directory", '""'))
            return name if name.startswith("/") or not folder else f"{folder}/{name}"
        scope = fields.get("file") or fields.get("scope", "")
    return ""


def _fields(node: str) -> dict[str, str]:
    """``!DILocation(line: 3, scope: !5)`` as ``{"line": "3", "scope": "!5"}``."""
    return dict(_FIELD.findall(node))


def _function(module: Module, name: str) -> Function:
    found = module.functions.get(name)
    if found is None or found.is_declaration:
        defined = [f.name for f in module.functions.values() if not f.is_declaration]
        raise Misuse(f"the module has no function {name!r}", hint=f"it has {', '.join(defined) or 'none'}")
    return found


def _counted(positions: Iterable[Position | None]) -> list[SourceLine]:
    counts = Counter((p.file, p.line) for p in positions if p)
    return [SourceLine(file, line, count) for (file, line), count in sorted(counts.items())]
