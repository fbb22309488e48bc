"""ELF files as they lie in memory: sections, and the symbols that one of them lists. Source: the System V ABI, "Object Files".

Only 64-bit little-endian files, which is all that x86-64 Linux and NVIDIA's cubins have. What the sections mean is told by the
two that read them: ``cuda/objects/elf.py`` for objects, programs and libraries, ``codegen/machine/cubin_elf.py`` for cubins. Damaged
bytes raise one of ``DAMAGE`` here; whose file it is, and what to do, is theirs to say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kernelwright.lazy_dataclasses import dataclass

MAGIC = b"\x7fELF"
CLASS = b"\x02\x01"
"""64 bits, little endian: the two bytes behind the magic."""
SYMTAB, DYNAMIC, NOBITS, DYNSYM = 2, 6, 8, 11
FUNCTION, FILE = 2, 4
DAMAGE = (struct.error, IndexError, ValueError, OverflowError)

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Header:
    """A section: ``size`` bytes from ``offset``, unless it is NOBITS, which only reserves memory."""

    name: str
    kind: int
    offset: int
    size: int
    link: int
    info: int


@dataclass(frozen=True)
class Entry:
    """A symbol: ``section`` is the index of the section it lies in, 0 for none; ``value`` its offset there, ``size`` in bytes."""

    name: str
    kind: int
    binding: int
    section: int
    value: int
    size: int


def text(data: bytes, at: int) -> str:
    """The zero-ended string at an offset."""
    return data[at : data.index(b"\0", at)].decode("utf-8", "surrogateescape")


def headers(data: bytes) -> tuple[Header, ...]:
    """The sections in the file's order, so that indices are the file's own."""
    (start,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    if start == 0:
        return ()
    if count == 0 or names == 0xFFFF:
        # More sections than 16 bits can count: the first header has the numbers.
        first = _SECTION.unpack_from(data, start)
        count, names = count or first[5], first[6] if names == 0xFFFF else names
    raw = [_SECTION.unpack_from(data, start + i * _SECTION.size) for i in range(count)]
    base = raw[names][4]
    return tuple(
        Header(text(data, base + name), kind, offset, size, link, info)
        for name, kind, _flags, _address, offset, size, link, info, _align, _entry in raw
    )


def content(data: bytes, header: Header) -> bytes:
    """The bytes of a section; none for one without any in the file."""
    return b"" if header.kind == NOBITS else data[header.offset : header.offset + header.size]


def entries(data: bytes, sections: tuple[Header, ...], table: Header) -> Iterator[Entry]:
    """The symbols of a symbol table in its order, unnamed ones too, so that indices are those of relocations."""
    names = sections[table.link].offset
    for i in range(table.size // _SYMBOL.size):
        name, info, _other, section, value, size = _SYMBOL.unpack_from(data, table.offset + i * _SYMBOL.size)
        yield Entry(text(data, names + name) if name else "", info & 15, info >> 4, section, value, size)
