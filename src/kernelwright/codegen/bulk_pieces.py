"""Fills and copies of a known size, in pieces as wide as their addresses allow: what LLVM would leave as a loop over bytes.

Code generation for NVPTX writes a fill or a copy of 128 bytes or more as a loop that moves one byte at a time, and ptxas unrolls it.

    call void @llvm.memset.p0.i64(ptr align 16 %v, i8 0, i64 512, i1 false)

becomes 32 times

    %bulk.0 = getelementptr inbounds i8, ptr %v, i64 16
    store <2 x i64> splat (i64 0), ptr %bulk.0, align 16

and a copy becomes copies of 64 bytes, which code generation writes out. A copy whose ranges may overlap (``memmove``) and what
is larger than ``LARGEST`` stay.
"""

from __future__ import annotations

import re

from kernelwright.passes.field_copies import COPY, POINTER, alignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 2048
"""Bytes: 128 stores of 16."""
LOOPS_FROM = 128
"""Bytes from which code generation makes a loop (LLVM's ``MaxAggrCopySize`` in NVPTXLowerAggrCopies)."""
WIDEST = 16
"""Bytes of an access."""
PIECE = 64
"""Bytes of a piece of a copy, which code generation writes out."""

_FILL = re.compile(
    rf"^  (?:tail )?call void @llvm\.memset\.\S+?\((?P<type>{POINTER})(?P<facts>[^%@]*)(?P<to>%[\w.$-]+|%\"[^\"]+\"), "
    r"i8 (?:noundef )?(?P<byte>-?\d+), i(?:32|64) (?:noundef )?(?P<size>\d+), i1 (?:noundef )?false\)[^!\n]*(?P<notes>.*)$",
    re.MULTILINE,
)
_PLACE = re.compile(r", !dbg !\d+")
_STORED = {16: "<2 x i64> splat (i64 {})", 8: "i64 {}", 4: "i32 {}", 2: "i16 {}", 1: "i8 {}"}


def in_pieces(ir_text: str) -> str:
    """The module with its larger fills and copies written out, for code generation alone."""
    names = iter(range(1 << 30))
    if "@llvm.memset." in ir_text:
        ir_text = _FILL.sub(lambda found: _stores(found, names), ir_text)
    if "@llvm.memcpy." in ir_text:
        ir_text = COPY.sub(lambda found: _copies(found, names), ir_text)
    return ir_text


def _stores(found: re.Match[str], names: Iterator[int]) -> str:
    size, align = int(found["size"]), min(alignment(found["facts"]), WIDEST)
    if size > LARGEST or (align < 4 and size < LOOPS_FROM):
        return found[0]
    byte = int(found["byte"]) & 0xFF
    lines: list[str] = []
    at = 0
    while at < size:
        width = next(w for w in _STORED if w <= align and w <= size - at)
        value = int.from_bytes(bytes([byte]) * min(width, 8), "little")
        to = _moved(lines, found["type"], found["to"], at, names)
        lines.append(f"  store {_STORED[width].format(value)}, {found['type']} {to}, align {width}{_place(found)}")
        at += width
    return "\n".join(lines)


def _copies(found: re.Match[str], names: Iterator[int]) -> str:
    size = int(found["size"])
    if not LOOPS_FROM <= size <= LARGEST:
        return found[0]
    to_align, from_align = min(alignment(found["facts"]), WIDEST), min(alignment(found["from_facts"]), WIDEST)
    lines: list[str] = []
    for at in range(0, size, PIECE):
        to = _moved(lines, found["type"], found["to"], at, names)
        source = _moved(lines, found["from_type"], found["source"], at, names)
        lines.append(
            f"  call void {found['callee']}({found['type']} align {to_align} {to}, {found['from_type']} align {from_align} "
            f"{source}, {found['index']} {min(PIECE, size - at)}, i1 false){_place(found)}"
        )
    return "\n".join(lines)


def _moved(lines: list[str], type: str, pointer: str, at: int, names: Iterator[int]) -> str:
    """The pointer ``at`` bytes further, computed by a line of its own."""
    if not at:
        return pointer
    name = f"%bulk.{next(names)}"
    lines.append(f"  {name} = getelementptr inbounds i8, {type} {pointer}, i64 {at}")
    return name


def _place(found: re.Match[str]) -> str:
    """Where in the source it is; what else is noted of a copy does not hold for its pieces."""
    place = _PLACE.search(", " + found["notes"]) if found["notes"] else None
    return place[0] if place else ""
