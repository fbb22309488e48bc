"""As much of ELF as reading a cubin takes: 64 bits, little endian, sections and symbols. Source: the System V ABI."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kernelwright.errors import ToolError

SYMTAB = 2
NOBITS = 8
FUNCTION = 2

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


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
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    def section(self, name: str) -> Section | None:
        return next((s for s in self.sections if s.name == name), None)


def read_elf(data: bytes) -> Elf:
    """Raises ``ToolError`` for bytes that are no 64-bit little-endian ELF file, or end too early."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ToolError("this is no cubin: it does not start like an ELF file", hint="compile it again")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise ToolError(f"this cubin is damaged ({error})", hint="compile it again") from error


def _read(data: bytes) -> Elf:
    (table,) = struct.unpack_from("<Q", data, 0x28)
    count, names_at = struct.unpack_from("<HH", data, 0x3C)
    headers = [_SECTION.unpack_from(data, table + _SECTION.size * i) for i in range(count)]
    names = headers[names_at][4]
    sections = tuple(
        Section(
            _text(data, names + name),
            kind,
            size,
            info,
            b"" if kind == NOBITS else data[offset : offset + size],
        )
        for name, kind, _flags, _address, offset, size, _link, info, _align, _entry in headers
    )
    for header, section in zip(headers, sections, strict=True):
        if section.kind == SYMTAB:
            return Elf(sections, _symbols(section.data, headers[header[6]][4], data))
    return Elf(sections, ())


def _symbols(table: bytes, names: int, data: bytes) -> tuple[Symbol, ...]:
    return tuple(
        Symbol(_text(data, names + name), info & 0xF, section, value, size)
        for name, info, _other, section, value, size in _SYMBOL.iter_unpack(table)
    )


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
