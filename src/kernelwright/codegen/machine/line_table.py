"""The line table of a cubin: which ``.loc`` each address was made from. Source: DWARF 2 to 4, section 6.2."""

from __future__ import annotations

import struct
from bisect import bisect_right

from kernelwright.codegen.machine.cubin_elf import Elf
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

# Opcodes of the line number program that move the state machine; the rest only carries operands to skip.
EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 0, 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2

_RELOCATION = struct.Struct("<QQ")
_RELOCATION_WITH_ADDEND = struct.Struct("<QQq")


@dataclass(frozen=True)
class LineTable:
    """``addresses`` (ascending, bytes from the section's start) and the line that holds from each on."""

    addresses: tuple[int, ...]
    lines: tuple[int, ...]

    def line(self, address: int) -> int:
        """The line at an address; 0 before the first entry."""
        at = bisect_right(self.addresses, address)
        return self.lines[at - 1] if at else 0


def read_lines(elf: Elf) -> dict[int, LineTable]:
    """One table per code section, by the section's index. Raises ``ToolError`` for a damaged table."""
    section = elf.section(".debug_line")
    if section is None:
        return {}
    try:
        rows = _Program(section.data, _targets(elf)).run()
    except (struct.error, IndexError, ZeroDivisionError) as error:
        raise ToolError(f"the cubin's line table is damaged ({error})", hint="compile it again") from error
    tables = {}
    for index, found in rows.items():
        # Where one address has several lines, the last one written holds.
        last = dict(sorted(found, key=lambda row: row[0]))
        tables[index] = LineTable(tuple(last), tuple(last.values()))
    return tables


def _targets(elf: Elf) -> dict[int, int]:
    """Offset in the table of each address operand, to the index of the section that it is relocated to."""
    found = {}
    for name, form in ((".rel.debug_line", _RELOCATION), (".rela.debug_line", _RELOCATION_WITH_ADDEND)):
        section = elf.section(name)
        data = section.data if section else b""
        for offset, info, *_ in form.iter_unpack(data[: len(data) // form.size * form.size]):
            found[offset] = elf.symbols[info >> 32].section
    return found


class _Program:
    """Runs the line number programs of a section, one after another."""

    def __init__(self, data: bytes, targets: dict[int, int]) -> None:
        self.data = data
        self.targets = targets
        self.rows: dict[int, list[tuple[int, int]]] = {}

    def run(self) -> dict[int, list[tuple[int, int]]]:
        at = 0
        while at + 4 <= len(self.data):
            (length,) = struct.unpack_from("<I", self.data, at)
            self._unit(at + 4, at + 4 + length)
            at += 4 + length
        return self.rows

    def _unit(self, at: int, end: int) -> None:
        version, header_length = struct.unpack_from("<HI", self.data, at)
        at += 6
        body = at + header_length
        step = self.data[at]
        at += 2 if version >= 4 else 1  # version 4 added operations per instruction
        line_base, line_range, opcode_base = struct.unpack_from("<bBB", self.data, at + 1)
        operands = self.data[at + 4 : at + 4 + opcode_base - 1]
        address, line, section = 0, 1, 0
        at = body
        while at < end:
            opcode = self.data[at]
            at += 1
            if opcode >= opcode_base:
                adjusted = opcode - opcode_base
                address += adjusted // line_range * step
                line += line_base + adjusted % line_range
                self._row(section, address, line)
            elif opcode == EXTENDED:
                size, at = self._unsigned(at)
                kind = self.data[at]
                if kind == SET_ADDRESS:
                    (address,) = struct.unpack_from("<Q", self.data, at + 1)
                    section = self.targets.get(at + 1, section)
                elif kind == END_SEQUENCE:
                    address, line = 0, 1
                at += size
            elif opcode == COPY:
                self._row(section, address, line)
            elif opcode == ADVANCE_PC:
                delta, at = self._unsigned(at)
                address += delta * step
            elif opcode == ADVANCE_LINE:
                delta, at = self._signed(at)
                line += delta
            elif opcode == CONST_ADD_PC:
                address += (255 - opcode_base) // line_range * step
            elif opcode == FIXED_ADVANCE_PC:
                (delta,) = struct.unpack_from("<H", self.data, at)
                address, at = address + delta, at + 2
            else:
                for _ in range(operands[opcode - 1]):
                    _, at = self._unsigned(at)

    def _row(self, section: int, address: int, line: int) -> None:
        self.rows.setdefault(section, []).append((address, line))

    def _unsigned(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, at

    def _signed(self, at: int) -> tuple[int, int]:
        start = at
        value, at = self._unsigned(at)
        bits = 7 * (at - start)
        return (value - (1 << bits) if value >> (bits - 1) else value), at
