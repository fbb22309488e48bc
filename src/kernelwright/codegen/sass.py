"""Machine instructions per IR block, by class: the PTX counts with what the assembler made of them.

PTX with every ``.loc`` replaced by one marker per block is assembled with line information; the cubin's line table then
says which block each machine instruction came from, wherever it was scheduled. A division is one PTX instruction and
eight to a hundred machine instructions; this is where that shows.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.codegen.counts import Counts, origins
from kernelwright.codegen.cubin import Assembler, Cubin, assemble
from kernelwright.codegen.debug_line import read_lines
from kernelwright.codegen.elf import FUNCTION, Elf, read_elf
from kernelwright.codegen.ptx_text import PtxFunction, read_ptx
from kernelwright.errors import Misuse
from kernelwright.target import architecture

INSTRUCTION_BYTES = 16
"""From Volta (sm_70) on; before it, instructions took 8 bytes and had other opcodes."""

# The low nine bits of an instruction name the operation, the next three the kind of its operands. Source: found by
# comparing the bits with nvdisasm's mnemonics for sm_70 to sm_120 over all our kernels.
OPCODES: dict[str, tuple[int, ...]] = {
    "move": (0x002, 0x003, 0x004, 0x005, 0x119, 0x155, 0x156),
    "warp": (0x006, 0x086, 0x0CC, 0x189, 0x1A1, 0x1C4),
    "int": (
        0x007, 0x00C, 0x010, 0x011, 0x012, 0x013, 0x014, 0x016, 0x017, 0x019, 0x01A, 0x01B, 0x01C, 0x024, 0x025, 0x026,
        0x027, 0x035, 0x036, 0x037, 0x03A, 0x046, 0x048, 0x100, 0x101, 0x109,
    ),
    "fp32": (0x008, 0x009, 0x00A, 0x00B, 0x020, 0x021, 0x023, 0x102),
    "fp64": (0x028, 0x029, 0x02A, 0x02B),
    "fp16": (0x030, 0x031, 0x032, 0x033, 0x034, 0x040),
    "tensor": (0x03B, 0x03C, 0x03D, 0x03F, 0x1F0),
    "special": (0x108,),
    "conversion": (0x045, 0x03E, 0x104, 0x105, 0x106, 0x107, 0x110, 0x111, 0x112, 0x113),
    "uniform": (*range(0x050, 0x060), *sorted({*range(0x080, 0x100)} - {0x086, 0x0B9, 0x0BB, 0x0CC}), 0x1C2, 0x1C3),
    "load_const": (0x182, 0x0B9, 0x0BB, 0x1AC),
    "load_generic": (0x180,),
    "load_global": (0x181,),
    "load_local": (0x183,),
    "load_shared": (0x184,),
    "store_generic": (0x185,),
    "store_global": (0x186,),
    "store_local": (0x187,),
    "store_shared": (0x188,),
    "atomic": (0x18A, 0x18B, 0x18C, 0x18D, 0x18E, 0x1A3, 0x1A6, 0x1A8, 0x1A9, 0x1AA),
    "barrier": (0x11A, 0x11C, 0x11D, 0x18F, 0x192, 0x1AB),
    "async_copy": (0x1AE, 0x1AF),
    "branch": (0x11B, 0x141, 0x142, 0x143, 0x144, 0x145, 0x146, 0x147, 0x148, 0x149, 0x14D, 0x150, 0x158, 0x15B, 0x15C, 0x15D),
}  # fmt: skip

NOTHING = 0x118
"""NOP: what fills a section up."""
HALF_AS_MOVE = 0x435
"""HFMA2 with an immediate, used to load a constant; its low bits are an integer addition's from sm_100 on."""

CLASS_OF = {code: name for name, codes in OPCODES.items() for code in codes}
CLASS_NAMES = (*OPCODES, "other")

_LOCATION = re.compile(r"^\s*\.(?:loc|file)\s.*$", re.MULTILINE)
_VERSION = re.compile(r"^\.address_size.*$", re.MULTILINE)


@dataclass(frozen=True)
class MachineCounts:
    """Machine instructions of a function by IR block, then by class. ``outlined`` counts the subroutines that the
    assembler added, such as a division's slow path, which few executions enter."""

    name: str
    blocks: Mapping[str, Counts]
    outlined: Counts

    def total(self) -> Counter[str]:
        """All blocks together, by class, without what is outlined."""
        return sum((Counter(dict(c)) for c in self.blocks.values()), Counter[str]())


def machine_counts(
    ptx: str,
    arch: str,
    labels: Mapping[str, Collection[str]] | None = None,
    *,
    unroll: bool = False,
    assembler: Assembler | None = None,
    cuda_path: Path | None = None,
    isolate: bool = False,
) -> dict[str, MachineCounts]:
    """Counts of every function in the PTX that has code of its own, by name; ``labels`` as in ``block_counts``.

    Loops that the assembler would unroll are kept rolled unless ``unroll``: else a block's count would be that of several
    iterations. Raises what ``assemble`` raises, and ``Misuse`` for an architecture before sm_70.
    """
    if architecture(arch).number < 70:
        raise Misuse(f"machine instructions are not counted for {arch}", hint="choose sm_70 or newer")
    functions = read_ptx(ptx)
    marked, markers = _marked(ptx, functions, unroll)
    cubin = assemble(marked, arch, line_info=True, assembler=assembler, cuda_path=cuda_path, isolate=isolate)
    given = labels or {}
    origin = {f.name: origins(f, given.get(f.name)) for f in functions}
    places = {number: (name, origin[name][label]) for number, (name, label) in markers.items()}
    return _counted(cubin, functions, places)


def opcode_class(instruction: int) -> str:
    """The class of a machine instruction from its first 64 bits: one of ``CLASS_NAMES``."""
    if instruction & 0xFFF == HALF_AS_MOVE:
        return "fp16"
    return CLASS_OF.get(instruction & 0x1FF, "other")


def _marked(ptx: str, functions: tuple[PtxFunction, ...], unroll: bool) -> tuple[str, dict[int, tuple[str, str]]]:
    """The PTX with a line number for each block, and what each number stands for."""
    lines = [_LOCATION.sub("", line) for line in ptx.splitlines()]
    markers: dict[int, tuple[str, str]] = {}
    for function in functions:
        headers = _loop_headers(function)
        for block in function.blocks:
            if not block.instructions:
                continue
            number = len(markers) + 1
            markers[number] = (function.name, block.label)
            at = block.instructions[0].line - 1
            keep = '\t.pragma "nounroll";\n' if block.label in headers and not unroll else ""
            lines[at] = f"\t.loc 1 {number} 0\n{keep}{lines[at]}"
    text = "\n".join(lines) + "\n"
    return _VERSION.sub(lambda m: m[0] + '\n.file 1 "blocks"', text, count=1), markers


def _loop_headers(function: PtxFunction) -> set[str]:
    """Where the edges lead that a depth-first walk from the entry finds to go back up its own path."""
    successors = {block.label: block.successors for block in function.blocks}
    entry = function.blocks[0].label
    headers: set[str] = set()
    seen, path = {entry}, {entry}
    walk = [(entry, iter(successors[entry]))]
    while walk:
        label, rest = walk[-1]
        target = next(rest, None)
        if target is None:
            path.discard(label)
            walk.pop()
        elif target in path:
            headers.add(target)
        elif target not in seen:
            seen.add(target)
            path.add(target)
            walk.append((target, iter(successors[target])))
    return headers


def _counted(
    cubin: Cubin, functions: tuple[PtxFunction, ...], places: Mapping[int, tuple[str, str]]
) -> dict[str, MachineCounts]:
    elf = read_elf(cubin.data)
    tables = read_lines(elf)
    kernels, known = {f.name for f in functions if f.kernel}, {f.name for f in functions}
    blocks: dict[str, dict[str, Counter[str]]] = {}
    outlined: dict[str, Counter[str]] = {}
    for index, section in enumerate(elf.sections):
        owner = section.name.removeprefix(".text.")
        if owner not in known or index not in tables:
            continue
        added = _added_ranges(elf, index, known)
        # A function that several kernels call is copied into each; one copy is enough.
        elsewhere = set(blocks) - kernels
        for at in range(0, section.size - INSTRUCTION_BYTES + 1, INSTRUCTION_BYTES):
            (bits,) = struct.unpack_from("<Q", section.data, at)
            if bits & 0x1FF == NOTHING:
                continue
            name, block = places.get(tables[index].line(at), (owner, ""))
            if any(start <= at < end for start, end in added):
                outlined.setdefault(owner, Counter())[opcode_class(bits)] += 1
            elif block and name not in elsewhere:
                blocks.setdefault(name, {}).setdefault(block, Counter())[opcode_class(bits)] += 1
    return {name: MachineCounts(name, dict(found), outlined.get(name, Counter())) for name, found in blocks.items()}


def _added_ranges(elf: Elf, section: int, known: Collection[str]) -> list[tuple[int, int]]:
    """Where the assembler's own subroutines lie in a section: functions inside it that the PTX does not define."""
    return [
        (symbol.value, symbol.value + symbol.size)
        for symbol in elf.symbols
        if symbol.kind == FUNCTION
        and symbol.section == section
        and symbol.name not in known
        and symbol.name.rpartition("$")[2] not in known
    ]
