"""Stores of some lanes only.

With AVX-512 they are stores under a mask. With AVX2 an AMD processor takes some twenty cycles for eight lanes of such a store, four times
as long as for reading a row, choosing and writing it back, and twice as long as for a store of its own for each lane, of which
those of inactive lanes go to a place that is not read.
"""

from __future__ import annotations

from kernelwright.codegen.simt.emission.processor import has_mask_registers
from kernelwright.codegen.simt.emission.representation import signed, stored
from kernelwright.codegen.simt.emission.text_writer import Writer


def write_back(e: Writer, row: str, value: str, pointer: str, align: int, active: str) -> None:
    """Stores the active lanes of a ``row``, as ``<32 x float>``. Only where the inactive lanes' places are not written to meanwhile."""
    lanes = row[1:].partition(" ")[0]
    # Else LLVM sees that a store under a mask does the same.
    volatile = "" if has_mask_registers() else "volatile "
    old = e.let(f"load {volatile}{row}, ptr {pointer}, align {align}")
    chosen = e.let(f"select <{lanes} x i1> {active}, {row} {value}, {row} {old}")
    e.line(f"store {row} {chosen}, ptr {pointer}, align {align}")


def store_each(
    e: Writer, type: str, value: str, pointer: str, step: int, align: int, mask: str, lanes: int, first: int = 0
) -> None:
    """Stores each lane of ``mask`` by itself: ``lanes`` numbers, of lane ``first`` and the next, ``step`` bytes apart."""
    nowhere = "" if mask == "-1" else e.scratch(0)
    for lane in range(lanes):
        number = e.let(f"extractelement <{lanes} x {stored(type)}> {value}, i64 {lane}")
        where = e.let(f"getelementptr i8, ptr {pointer}, i64 {lane * step}") if lane else pointer
        if nowhere:
            mine = e.let(f"and i32 {mask}, {signed(1 << (first + lane))}")
            active = e.let(f"icmp ne i32 {mine}, 0")
            where = e.let(f"select i1 {active}, ptr {where}, ptr {nowhere}")
        e.line(f"store {stored(type)} {number}, ptr {where}, align {align}")
