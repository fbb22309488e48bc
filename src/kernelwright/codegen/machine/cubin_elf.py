"""A cubin's sections and symbols, as values: everything is read at once, for cubins are small."""

from __future__ import annotations

from kernelwright import elf
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

FUNCTION = elf.FUNCTION


@dataclass(frozen=True)
class Section:
    """``size`` in bytes; ``data`` is empty for a section that only reserves memory."""

    name: str
    kind: int
    size: int
    info: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """``section`` is the index of the section it lies in; ``value`` its offset there, ``size`` in bytes."""

    name: str
    kind: int
    section: int
    value: int
    size: int


@dataclass(frozen=True)
class Elf:
    """Indices of sections and symbols are the file's own, which relocations and line tables speak of."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    def section(self, name: str) -> Section | None:
        """The first section with this name; None when there is none."""
        return next((s for s in self.sections if s.name == name), None)


def read_elf(data: bytes) -> Elf:
    """Raises ``ToolError`` for bytes that are no 64-bit little-endian ELF file, or end too early."""
    if data[:6] != elf.MAGIC + elf.CLASS:
        raise ToolError("this is no cubin: it does not start like an ELF file", hint="compile it again")
    try:
        headers = elf.headers(data)
        table = next((h for h in headers if h.kind == elf.SYMTAB), None)
        symbols = elf.entries(data, headers, table) if table else ()
        return Elf(
            tuple(Section(h.name, h.kind, h.size, h.info, elf.content(data, h)) for h in headers),
            tuple(Symbol(s.name, s.kind, s.section, s.value, s.size) for s in symbols),
        )
    except elf.DAMAGE as error:
        raise ToolError(f"this cubin is damaged ({error})", hint="compile it again") from error
