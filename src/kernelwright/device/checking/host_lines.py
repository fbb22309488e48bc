"""Lines of host code: an address in a program to its file and line, from the table that clang leaves with -gline-tables-only.

    HostLines().first_of("/tmp/app+0x362b /lib/libc.so.6+0x2718a") -> End("/home/me/app.cu", 11)

Source: DWARF 5, section 6.2 (line number information). Other versions, files without the table, and damaged ones have no lines.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kernelwright.cuda.objects.elf import Elf
from kernelwright.device.checking.findings import End
from kernelwright.device.locations import is_header
from kernelwright.errors import KernelwrightError
from kernelwright.lazy_dataclasses import dataclass

LINES_FLAG = "-gline-tables-only"
"""What makes clang leave the table; it changes no code."""

_HEADERS_BEFORE = 8
"""How many rows before one in a header are looked at for the line that its call stands in."""
_STRING, _LINE_STRP, _UDATA, _DATA16 = 0x08, 0x1F, 0x0F, 0x1E
_PATH, _FOLDER = 1, 2
_ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _COPY = 2, 3, 4, 1
_ADD_PC, _FIXED_ADVANCE = 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2


@dataclass(frozen=True)
class Row:
    """From ``address`` on, the code comes from this line; ``line`` 0 with no file: a sequence of code ends."""

    address: int
    file: str
    line: int


class Reader:
    """Numbers of a section, one after the other."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def number(self, size: int, signed: bool = False) -> int:
        """A number of ``size`` bytes. Raises ``ValueError`` where the table ends."""
        taken = self.data[self.at : self.at + size]
        if len(taken) < size:
            raise ValueError("the table is cut short")
        self.at += size
        return int.from_bytes(taken, "little", signed=signed)

    def leb(self, signed: bool = False) -> int:
        """A LEB128 number of DWARF (section 7.6). Raises ``ValueError`` where the table ends."""
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << shift) if signed and byte & 64 else value

    def text(self) -> str:
        """The text up to the next zero byte, which is skipped, too. Raises ``ValueError`` where there is none."""
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode("utf-8", "surrogateescape")
        self.at = end + 1
        return found


def line_rows(lines: bytes, strings: bytes) -> list[Row]:
    """All rows of ``.debug_line`` by address; ``strings`` is ``.debug_line_str``. Raises ``ValueError`` for what is damaged."""
    found: list[Row] = []
    at = 0
    while at < len(lines):
        reader = Reader(lines, at)
        length = reader.number(4)
        at = reader.at + length
        if length < 0xFFFFFFF0 and reader.number(2) == 5:
            found += _unit(reader, at, strings)
    return sorted(found, key=lambda row: row.address)


def _unit(r: Reader, end: int, strings: bytes) -> Iterator[Row]:
    r.number(1), r.number(1)
    after = r.number(4)
    program = r.at + after
    least = r.number(1)
    r.number(1), r.number(1)
    base, span, first = r.number(1, signed=True), r.number(1), r.number(1)
    lengths = [r.number(1) for _ in range(first - 1)]
    folders = [path for path, _ in _entries(r, strings)]
    files = [os.path.normpath(os.path.join(folders[0], folders[folder], path)) for path, folder in _entries(r, strings)]
    r.at = program
    address, file, line = 0, 1, 1
    while r.at < end:
        code = r.number(1)
        if code >= first:
            address += (code - first) // span * least
            line += base + (code - first) % span
            yield Row(address, files[file], line)
        elif code == 0:
            size = r.leb()
            then = r.at + size
            what = r.number(1)
            if what == _END_SEQUENCE:
                yield Row(address, "", 0)
                address, file, line = 0, 1, 1
            elif what == _SET_ADDRESS:
                address = r.number(size - 1)
            r.at = then
        elif code == _COPY:
            yield Row(address, files[file], line)
        elif code == _ADVANCE_PC:
            address += r.leb() * least
        elif code == _ADVANCE_LINE:
            line += r.leb(signed=True)
        elif code == _SET_FILE:
            file = r.leb()
        elif code == _ADD_PC:
            address += (255 - first) // span * least
        elif code == _FIXED_ADVANCE:
            address += r.number(2)
        else:
            for _ in range(lengths[code - 1]):
                r.leb()


def _entries(r: Reader, strings: bytes) -> list[tuple[str, int]]:
    """A table of folders or files: path and folder of each."""
    formats = [(r.leb(), r.leb()) for _ in range(r.number(1))]
    found = []
    for _ in range(r.leb()):
        path, folder = "", 0
        for what, form in formats:
            value: str | int
            if form == _LINE_STRP:
                value = Reader(strings, r.number(4)).text()
            elif form == _STRING:
                value = r.text()
            elif form == _UDATA:
                value = r.leb()
            elif form == _DATA16:
                value = r.number(16)
            else:
                raise ValueError(f"unknown form {form}")
            if what == _PATH:
                path = str(value)
            elif what == _FOLDER:
                folder = int(value)
        found.append((path, folder))
    return found


class HostLines:
    """The tables of the files that a program consists of, each read when it is first asked for."""

    def __init__(self) -> None:
        self._rows = cache(_rows_of)

    def first_of(self, stack: str) -> End | None:
        """The line of the innermost of some calls that lies in a file of the user's; ``stack``: ``FILE+0xOFFSET`` by spaces, as the
        program's runtime tells them. None when no line is known."""
        for call in stack.split():
            file, _, offset = call.rpartition("+")
            try:
                found = self._line(file, int(offset, 16))
            except ValueError:
                continue
            if found is not None:
                return found
        return None

    def _line(self, file: str, offset: int) -> End | None:
        """What the compiler has taken in from a header is told by the call, which is right before it."""
        rows = self._rows(file)
        # What is told is where a call returns to.
        at = bisect.bisect_right(rows, offset - 1, key=lambda row: row.address) - 1
        for row in reversed(rows[max(at - _HEADERS_BEFORE, 0) : at + 1]):
            if not row.file:
                return None
            if row.line and not is_header(row.file):
                return End(row.file, row.line)
        return None


def _rows_of(file: str) -> list[Row]:
    try:
        elf = Elf(Path(file).read_bytes(), file)
        return line_rows(elf.content(".debug_line") or b"", elf.content(".debug_line_str") or b"")
    except (OSError, ValueError, IndexError, KernelwrightError):
        return []
