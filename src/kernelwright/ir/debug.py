"""Source lines: from ``!dbg`` to file, line and column, through inlined calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kernelwright.ir.module import Function, Instruction, Module
from kernelwright.ir.text.tokens import unquote
from kernelwright.lazy_dataclasses import dataclass

_FIELD = re.compile(r'(\w+): ("[^"]*"|[-!\w]+)', re.ASCII)


@dataclass(frozen=True)
class Location:
    """Where an instruction comes from. ``line`` 0: LLVM knows the function but no line."""

    file: str
    line: int
    column: int
    function: str
    """The source name of the function the line is in."""
    inlined_at: Location | None = None
    """The call this function was inlined through."""

    def frames(self) -> Iterator[Location]:
        """This location, then the calls around it, innermost first."""
        frame: Location | None = self
        while frame is not None:
            yield frame
            frame = frame.inlined_at

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def source_location(instruction: Instruction, skip: Callable[[str], bool] | None = None) -> Location | None:
    """Where an instruction comes from, or ``None`` when it carries no ``!dbg``.

    ``skip(file)`` says which files are not the user's: the answer is then the innermost frame outside them (the call of
    ``threadIdx`` rather than the inside of a header), or the outermost frame when all are skipped.
    """
    function = instruction.function
    module = function.module if function is not None else None
    node = instruction.metadata.get("dbg")
    if node is None or module is None:
        return None
    location = location_of(module, node)
    if location is None or skip is None:
        return location
    frames = list(location.frames())
    return next((frame for frame in frames if not skip(frame.file)), frames[-1])


def location_of(module: Module, node: str) -> Location | None:
    """The location that the metadata node ``!12`` describes; ``None`` when it is no ``DILocation``."""
    kind, fields = _fields(module, node)
    if kind != "DILocation":
        return None
    file, function = _scope(module, fields.get("scope", ""))
    around = fields.get("inlinedAt")
    return Location(
        file,
        int(fields.get("line", "0")),
        int(fields.get("column", "0")),
        function,
        location_of(module, around) if around else None,
    )


def function_location(function: Function) -> Location | None:
    """Where a function is defined in the source, or ``None`` without debug information."""
    node = function.metadata.get("dbg")
    if node is None or function.module is None:
        return None
    kind, fields = _fields(function.module, node)
    if kind != "DISubprogram":
        return None
    file, name = _scope(function.module, node)
    return Location(file, int(fields.get("line", "0")), 0, name)


def _fields(module: Module, node: str) -> tuple[str, dict[str, str]]:
    """The kind (``DILocation``) and fields of a specialised node; empty when there is none."""
    text = module.metadata.get(node, node).removeprefix("distinct ")
    if not text.startswith("!DI"):
        return "", {}
    kind, _, body = text[1:].partition("(")
    return kind, dict(_FIELD.findall(body))


def _scope(module: Module, node: str) -> tuple[str, str]:
    """File and function of a scope: a block in a function has the file written on it and the function above it."""
    file = ""
    while node:
        kind, fields = _fields(module, node)
        file = file or _file(module, fields.get("file", ""))
        if kind == "DISubprogram":
            return file, unquote(fields.get("name", '""'))
        node = fields.get("scope", "") if kind.startswith("DILexicalBlock") else ""
    return file, ""


def _file(module: Module, node: str) -> str:
    """The file name as the compiler was given it, its folder in front when the name is relative and a folder is known."""
    kind, fields = _fields(module, node)
    if kind != "DIFile":
        return ""
    name = unquote(fields.get("filename", '""'))
    folder = unquote(fields.get("directory", '""'))
    if not folder or folder == "." or name.startswith("/"):
        return name
    return f"{folder}/{name}"
