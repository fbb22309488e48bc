"""Reading what a link needs to know from ELF files, without ``nm`` or ``readelf``: symbols, sections, needed libraries.

Sections and symbols are read when they are asked for: a library may be large. Layouts: ``kernelwright/elf.py``; dynamic
sections: System V ABI, "Dynamic Section"; the version tables are the GNU extension described in the Linux Standard Base,
"Symbol Versioning".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kernelwright import elf
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

_GNU_VERNEED, _GNU_VERSYM = 0x6FFFFFFE, 0x6FFFFFFF
_DT_NEEDED, _DT_SONAME = 1, 14

Binding = Literal["local", "global", "weak"]
_BINDINGS: dict[int, Binding] = {0: "local", 1: "global", 2: "weak"}


@dataclass(frozen=True)
class Symbol:
    """One entry of a symbol table."""

    name: str
    binding: Binding
    is_defined: bool
    is_file: bool
    """Names the source file the object was compiled from."""
    version: str = ""
    """``libcudart.so.13`` in ``cudaMalloc@libcudart.so.13``; dynamic symbols only."""
    library: str = ""
    """The library that the version is asked from."""


class Elf:
    """One ELF file in memory. Raises ``Misuse`` when the bytes are no such file, or are cut short."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._data = data
        if data[:4] != elf.MAGIC or len(data) < 64:
            raise Misuse(
                f"{name} is neither an object file nor a program", hint="give what kw compile or a C compiler made"
            )
        if data[4:6] != elf.CLASS:
            raise Misuse(f"{name} is not a 64-bit little-endian file", hint="compile for x86-64 Linux")
        try:
            self._sections = elf.headers(data)
        except elf.DAMAGE:
            raise Misuse(f"{name} is cut short", hint="make it again") from None

    @property
    def section_names(self) -> tuple[str, ...]:
        """All names in the order of the section table; one may stand there several times."""
        return tuple(s.name for s in self._sections)

    def content(self, section: str) -> bytes | None:
        """The bytes of a section, or None when there is none of that name."""
        found = next((s for s in self._sections if s.name == section), None)
        return None if found is None else elf.content(self._data, found)

    def symbols(self, dynamic: bool = False) -> list[Symbol]:
        """The symbols of the object's table, or of a program's dynamic one, unnamed ones left out.
        Raises ``Misuse`` for a file that is cut short."""
        try:
            return list(self._read_symbols(elf.DYNSYM if dynamic else elf.SYMTAB))
        except elf.DAMAGE:
            raise Misuse(f"{self.name} is cut short", hint="make it again") from None

    def _read_symbols(self, kind: int) -> Iterator[Symbol]:
        for table in (s for s in self._sections if s.kind == kind):
            versions = self._versions() if kind == elf.DYNSYM else {}
            numbers = next((s for s in self._sections if s.kind == _GNU_VERSYM), None)
            for i, entry in enumerate(elf.entries(self._data, self._sections, table)):
                if not entry.name:
                    continue
                version, library = "", ""
                if numbers is not None and versions:
                    (number,) = struct.unpack_from("<H", self._data, numbers.offset + 2 * i)
                    version, library = versions.get(number & 0x7FFF, ("", ""))
                yield Symbol(
                    name=entry.name,
                    binding=_BINDINGS.get(entry.binding, "global"),
                    is_defined=entry.section != 0,
                    is_file=entry.kind == elf.FILE,
                    version=version,
                    library=library,
                )

    def _versions(self) -> dict[int, tuple[str, str]]:
        """Version number -> its name and the library it is needed from."""
        found: dict[int, tuple[str, str]] = {}
        for section in (s for s in self._sections if s.kind == _GNU_VERNEED):
            names = self._sections[section.link].offset
            at = section.offset
            while True:
                _, count, library, first, following = struct.unpack_from("<HHIII", self._data, at)
                entry = at + first
                for _ in range(count):
                    _, _, number, name, forward = struct.unpack_from("<IHHII", self._data, entry)
                    found[number] = (elf.text(self._data, names + name), elf.text(self._data, names + library))
                    entry += forward
                if following == 0:
                    break
                at += following
        return found

    def _dynamic(self, tag: int) -> list[str]:
        values = []
        for section in (s for s in self._sections if s.kind == elf.DYNAMIC):
            names = self._sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, 16):
                found, value = struct.unpack_from("<qQ", self._data, at)
                if found == tag:
                    values.append(elf.text(self._data, names + value))
        return values

    @property
    def needed(self) -> tuple[str, ...]:
        """The shared libraries the file asks for, in order."""
        return tuple(self._dynamic(_DT_NEEDED))

    @property
    def soname(self) -> str | None:
        """The name a shared library goes by, or None."""
        return next(iter(self._dynamic(_DT_SONAME)), None)


def read_elf(path: Path) -> Elf:
    """The file at ``path``. Raises ``Misuse`` when it cannot be read or is no ELF file."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise Misuse(f"cannot read {path}: {e.strerror}") from None
    return Elf(data, str(path))


def archive_members(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The files in a static library (``ar``, System V variant), its symbol index and name table left out.
    Raises ``Misuse`` for a file that is no library, or a damaged one."""
    if data[:8] != b"!<arch>\n":
        raise Misuse(f"{name} is no static library")
    at = 8
    while at + 60 <= len(data):
        member = data[at : at + 16].decode("ascii", "replace").rstrip()
        try:
            size = int(data[at + 48 : at + 58])
        except ValueError:
            raise Misuse(f"{name} is a damaged static library", hint="make it again") from None
        if member not in ("/", "//", "/SYM64/"):
            yield member.rstrip("/"), data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
